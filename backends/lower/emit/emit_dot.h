// Calls of intrinsics as dot products of neighbours (VNNI, bf16, f16, SDOT): one instruction for the loops of
// a description (lang/intrinsics/). A friend of the Emitter, which makes one for each call.
#pragma once

#include <string>

#include "backends/lower/emit/emit.h"

namespace kiln {

class DotCall {
 public:
  // `outer`: the outermost loop of the description, over the products of a sum.
  DotCall(Emitter& emitter, Id outer) : e_(emitter), outer_(outer) {}

  // False if the machine has no such instruction, or if elements do not lie as it wants them. The caller emits
  // the description then.
  bool Emit(const std::string& intrinsic);

 private:
  using Value = mlir::Value;

  bool FindFactors();
  bool TestGuards();
  bool FindAddresses();
  IndexValue At(const IndexSum& address, int64_t product);
  bool AreNeighbours(Id load);
  void EmitSums(const char* instruction, bool moves_a);
  mlir::VectorType Parts(int64_t count);
  Value LoadParts(Id load, const IndexValue& at, int64_t count);
  Value RepeatedA();
  Value PackedB();
  Value AsOperand(Value value);

  Emitter& e_;
  const Id outer_;
  Id inner_ = kNone, block_ = kNone;
  Id a_ = kNone, b_ = kNone;  // loads: the same elements of A for each sum, others of B
  int64_t products_ = 0, sums_ = 0;
  IndexValue at_a_, at_b_;
  Value runs_;  // null, or whether all of the call is inside of what its guards allow
};

}  // namespace kiln
