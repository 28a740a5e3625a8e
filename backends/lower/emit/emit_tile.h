// Calls of intrinsics as those of a matrix unit (AMX): tiles of A and B are loaded by rows, and their product is
// added to a tile of C. To all but the unit, this tile is one vector of 256 elements. LLVM keeps it in a
// register of the unit if it stays on the stack, and configures the unit. A friend of the Emitter, which makes
// one for each call.
#pragma once

#include <optional>
#include <string>

#include "backends/lower/emit/emit.h"

namespace kiln {

class TileCall {
 public:
  // `outer`: the outermost loop of the description, over the rows of A and C.
  TileCall(Emitter& emitter, Id outer) : e_(emitter), outer_(outer) {}

  // False if the machine has no such unit, or if elements do not lie as it wants them. The caller emits the
  // description then.
  bool Emit(const std::string& intrinsic);

 private:
  using Value = mlir::Value;
  struct Rows {
    IndexValue first;
    int64_t apart = 0;  // elements from row to row
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
  bool whole_ = false;    // the tile of C is all there is in its memory, without gaps
  Value height_, width_;  // of a tile: rows, bytes
};

}  // namespace kiln
