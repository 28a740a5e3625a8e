// Emits a call of an intrinsic as one machine instruction that computes dot products of neighboring elements
// (VNNI, bf16, f16, SDOT; lang/intrinsics/). The Emitter creates one object for each call.
#pragma once

#include <string>

#include "backends/lower/emit/emit.h"

namespace kiln {

class DotCall {
 public:
  // `outer`: the outermost loop of the description, over the products of a sum.
  DotCall(Emitter& emitter, Id outer) : e_(emitter), outer_(outer) {}

  // Returns false if the machine lacks the instruction, or if the operands do not have the layout that it
  // requires. The caller then emits the loops of the intrinsic's description.
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
  Id a_ = kNone, b_ = kNone;  // loads: A's are the same for each sum, B's differ
  int64_t products_ = 0, sums_ = 0;
  IndexValue at_a_, at_b_;
  Value runs_;  // whether the guards allow the call; null: always
};

}  // namespace kiln
