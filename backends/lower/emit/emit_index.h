// Emits the values of indices. Each partial sum that is equal in all vector lanes is computed once, in the body of the
// innermost loop that it depends on (backends/lower/plan/index_evaluator.h). Private to emit/.
#pragma once

#include <vector>

#include "backends/lower/emit/emit_code.h"

namespace kiln {

class IndexEmitter {
 public:
  using Value = mlir::Value;

  explicit IndexEmitter(CodeBuilder& code) : code_(code), b_(code.b()) {}

  CodeBuilder& code() { return code_; }
  // Emits later quotients and remainders in 32 bits, since GPUs have no division of 64 bits. This applies to values
  // that are equal in all lanes and proven to be in 0 .. 2^31 - 1.
  void DivideIn32Bits() { in_32_bits_ = true; }
  IndexValue Eval(const IndexSum& sum);
  // Returns the address of an element after the buffer's swizzle, which permutes addresses.
  IndexValue AddressOf(Id buffer, const IndexSum& address);
  Value Scalar(const IndexValue& value);  // of a value that is equal in all lanes
  Value Vector(const IndexValue& value);  // a vector of index
  // Emits the values of atoms, the run-time parts of indices, with numbers from `before` on, in ascending order. In
  // this order, LLVM's code has the fewest moves.
  void EmitAtoms(int before);
  void SetAtom(int atom, Value value);
  void SetLaneAtom(int lane_atom, Value value);

 private:
  Value ValueOf(int atom);
  Value ValueOfLanes(int lane_atom);
  Value Apply(const AtomDefinition& definition, Value of, llvm::function_ref<Value(int64_t)> constant);
  Value DigitIn32Bits(const AtomDefinition& definition, Value of);

  CodeBuilder& code_;
  mlir::ImplicitLocOpBuilder& b_;
  std::vector<Value> atoms_, lane_atoms_;  // by number: the values computed so far
  bool in_32_bits_ = false;
};

}  // namespace kiln
