// Emits a call of an intrinsic for a matrix unit (AMX): loads tiles of A and B by rows and adds their product
// to a tile of C. For everything but the unit, a tile of C is a vector of 256 elements. LLVM keeps it in a
// tile register if it stays on the stack, and configures the unit. The Emitter creates one object for each
// call.
#pragma once

#include "backends/lower/emit/emit.h"
#include "backends/lower/passes/calls.h"

namespace kiln {

class TileCall {
 public:
  // Keeps references to both.
  TileCall(Emitter& emitter, const plan::TileOperands& operands) : e_(emitter), tile_(operands) {}

  void Emit();

 private:
  using Value = mlir::Value;
  using Rows = plan::TileOperands::Rows;

  Value Load(Id buffer, const Rows& rows);
  Value LoadSums();
  void StoreSums(Value sums);
  Value Call(mlir::Type type, const char* intrinsic, mlir::ValueRange operands);
  Value Pointer(Id buffer, const Rows& rows);
  Value RowBytes(Id buffer, const Rows& rows);
  mlir::VectorType SumsAsVector();
  mlir::Type Unit();

  Emitter& e_;
  const plan::TileOperands& tile_;
  Id result_ = kNone;
  bool whole_ = false;    // the tile of C fills its buffer without gaps
  Value height_, width_;  // of a tile: rows, bytes
};

}  // namespace kiln
