// Emits a call of an intrinsic as a dot-product instruction (VNNI, bf16, SDOT). The Emitter creates one object for each
// call.
#pragma once

#include "backends/lower/emit/emit.h"
#include "backends/lower/passes/calls.h"

namespace kiln {

class DotCall {
 public:
  // Keeps references to all arguments.
  DotCall(Emitter& emitter, const plan::Call& call, const plan::DotOperands& operands)
      : e_(emitter), call_(call), dot_(operands) {}

  void Emit();

 private:
  using Value = mlir::Value;

  void EmitSums();
  mlir::VectorType Parts(int64_t count);
  Value LoadParts(Id load, const IndexValue& at, int64_t count);
  Value RepeatedA();
  Value PackedB();
  Value AsOperand(Value value);

  Emitter& e_;
  const plan::Call& call_;
  const plan::DotOperands& dot_;
};

}  // namespace kiln
