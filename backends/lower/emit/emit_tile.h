// Emits a call of an intrinsic for a matrix unit (AMX): loads tiles of A and B by rows and adds their product
// to a tile of C. For everything but the unit, a tile of C is a vector of 256 elements. LLVM keeps it in a
// tile register if it stays on the stack, and configures the unit. The Emitter creates one object for each
// call.
#pragma once

#include <optional>
#include <string>

#include "backends/lower/emit/emit.h"

namespace kiln {

class TileCall {
 public:
  // `outer`: the outermost loop of the description, over the rows of A and C.
  TileCall(Emitter& emitter, Id outer) : e_(emitter), outer_(outer) {}

  // Returns false if the machine lacks the unit, or if the operands do not have the layout that it requires.
  // The caller then emits the loops of the intrinsic's description.
  bool Emit(const std::string& intrinsic);

 private:
  using Value = mlir::Value;
  struct Rows {
    IndexValue first;
    int64_t apart = 0;  // elements from one row to the next
  };

  bool FindFactors();
  bool FindRows(int64_t together);
  std::optional<Rows> RowsOf(const IndexSum& address, int64_t parts, int64_t stride,
                             llvm::function_ref<void(int64_t row, int64_t part)> bind);
  Value Load(Id buffer, const Rows& rows);
  Value LoadSums();
  void StoreSums(Value sums);
  Value Call(mlir::Type type, const char* intrinsic, mlir::ValueRange operands);
  Value Pointer(Id buffer, const Rows& rows);
  Value RowBytes(Id buffer, const Rows& rows);
  mlir::VectorType SumsAsVector();
  mlir::Type Unit();

  Emitter& e_;
  const Id outer_;
  Id middle_ = kNone, inner_ = kNone, block_ = kNone;
  Id a_ = kNone, b_ = kNone;  // loads
  Rows rows_a_, rows_b_, rows_c_;
  Id result_ = kNone;
  bool whole_ = false;    // the tile of C fills its buffer without gaps
  Value height_, width_;  // of a tile: rows, bytes
};

}  // namespace kiln
