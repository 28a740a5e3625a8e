// Compiles the bodies of blocks to straight-line code over registers, which the interpreter, symbolic execution and the
// element evaluator run.
#pragma once

#include <algorithm>
#include <map>
#include <vector>

#include "lang/program/program.h"
#include "lang/program/scalar.h"

namespace kiln {

// An index sum (lang/index/index_map.h) over numbered variables, in a form that evaluates fast.
struct CodeSum {
  struct Term {
    int variable;
    int64_t scale, lower, extent;
  };
  int64_t offset = 0;
  bool affine = true;  // lower 1 and no remainder in all terms
  absl::InlinedVector<Term, 3> terms;

  int64_t operator()(const int64_t* variables) const {
    int64_t value = offset;
    if (affine) {
      for (const Term& t : terms) value += t.scale * variables[t.variable];
      return value;
    }
    for (const Term& t : terms) {
      int64_t digit = variables[t.variable] / t.lower;
      if (t.extent != 0) digit %= t.extent;
      value += t.scale * digit;
    }
    return value;
  }
};

// Translates an index sum into a CodeSum. `variable_of` returns the number of the variable that holds a source's value.
CodeSum MakeSum(const IndexSum& sum, absl::FunctionRef<int(Source)> variable_of);

// The indices of an access to a buffer; each is checked against its dimension.
struct CodeAccess {
  struct Dim {
    CodeSum index;
    int64_t extent, stride;

    int64_t Nearest(int64_t value) const { return std::clamp<int64_t>(value, 0, extent - 1); }
  };
  Id buffer = kNone;
  absl::InlinedVector<Dim, 4> dims;

  // Returns the position of the element in row-major order; -1 if an index is out of bounds.
  int64_t operator()(const int64_t* variables) const {
    int64_t at = 0;
    for (const Dim& dim : dims) {
      const int64_t index = dim.index(variables);
      if (index < 0 || index >= dim.extent) return -1;
      at += index * dim.stride;
    }
    return at;
  }

  // True if all computed indices are within bounds; registers[which[d]] holds the index of dimension d.
  bool Contains(const int* which, const Scalar* registers) const {
    return std::all_of(dims.begin(), dims.end(), [&](const Dim& dim) {
      const int64_t index = registers[*which++].i;
      return index == dim.Nearest(index);
    });
  }
  // Returns the row-major position of the element at computed indices: registers[which[d]] for dimension d, clamped to
  // the bounds.
  int64_t Nearest(const int* which, const Scalar* registers) const {
    int64_t at = 0;
    for (const Dim& dim : dims) at += dim.Nearest(registers[*which++].i) * dim.stride;
    return at;
  }
};

// Builds an access to a buffer with these index marks. For a gather, `index` is empty, because its indices are computed
// when the code runs.
CodeAccess MakeAccess(const Program& program, Id buffer, absl::Span<const int32_t> index,
                      absl::FunctionRef<int(Source)> variable_of);

// Instructions over registers that compute a list of expressions. Run and RunIn interpret them.
class BodyCode {
 public:
  BodyCode() = default;
  // Compiles the expressions. `args`: the number of kArg values (0 outside of monoids).
  BodyCode(const Program& program, absl::Span<const int32_t> exprs, int args,
           absl::FunctionRef<int(Source)> variable_of);

  int num_registers() const { return static_cast<int>(initial_.size()); }
  // Returns the registers with which a run begins. Constants are set; the caller sets register r to the argument kArg
  // r. A copy of them may be used for several runs.
  const std::vector<Scalar>& initial() const { return initial_; }
  DType type(int reg) const { return types_[reg]; }
  // Returns the register that holds the value of the i-th compiled expression after a run.
  int result(int i) const { return results_[i]; }

  // Runs the code on numbers. load(const CodeAccess&, int64_t position, Scalar* value) -> bool loads an element. The
  // position is -1 if an index is out of bounds; a gather passes the nearest element instead. If load returns false,
  // Run stops and returns false.
  template <typename Load>
  bool Run(const int64_t* variables, Scalar* registers, Load&& load) const {
    ScalarDomain<Load> scalars{load};
    return RunIn(scalars, variables, registers);
  }

  // Runs the code on values of another kind. Domain provides Load(access, position or -1, to) -> bool, Gather(access,
  // which, registers, to) -> bool for loads with indices in registers[which[d]], and computes values by Apply(op, type,
  // function, a, b, c), Cast(op, from, to, a) and Index(number). If a Load or Gather returns false, RunIn stops and
  // returns false.
  template <typename Domain, typename Value>
  bool RunIn(Domain& domain, const int64_t* variables, Value* registers) const {
    const size_t size = code_.size();
    for (size_t at = 0; at < size; ++at) {
      const Instruction& in = code_[at];
      Value* const to = registers + in.to;
      switch (in.kind) {
        case Kind::kApply:
          *to = domain.Apply(in.op, in.type, in.function, registers[in.a], registers[in.b], registers[in.c]);
          break;
        case Kind::kLoad:
          if (!domain.Load(accesses_[in.a], accesses_[in.a](variables), to)) return false;
          break;
        case Kind::kGather:
          if (!domain.Gather(accesses_[in.a], gathered_.data() + in.b, registers, to)) return false;
          break;
        case Kind::kIndex:
          *to = domain.Index(sums_[in.a](variables));
          break;
        case Kind::kCast:
          *to = domain.Cast(in.op, in.from, in.type, registers[in.a]);
          break;
        case Kind::kCopy:
          *to = registers[in.a];
          break;
        case Kind::kUnless: {
          const int64_t value = sums_[in.a](variables);
          if (value < 0 || value >= in.extent) at = static_cast<size_t>(in.b) - 1;
          break;
        }
        case Kind::kJump:
          at = static_cast<size_t>(in.b) - 1;
          break;
      }
    }
    return true;
  }

 private:
  template <typename LoadFunction>
  struct ScalarDomain {
    LoadFunction& load;
    bool Load(const CodeAccess& access, int64_t at, Scalar* to) { return load(access, at, to); }
    bool Gather(const CodeAccess& access, const int* which, const Scalar* registers, Scalar* to) {
      return load(access, access.Nearest(which, registers), to);
    }
    static Scalar Apply(Op, DType type, ScalarFunction function, Scalar a, Scalar b, Scalar c) {
      return RoundScalar(type, function(a, b, c));
    }
    static Scalar Cast(Op op, DType from, DType to, Scalar a) { return CastScalar(op, from, to, a); }
    static Scalar Index(int64_t value) { return {.i = value}; }
  };

  enum class Kind : uint8_t { kApply, kLoad, kGather, kIndex, kCast, kCopy, kUnless, kJump };
  struct Instruction {
    Kind kind;
    Op op = Op::kConstant;
    DType type = DType::kF32, from = DType::kF32;
    // Registers of the result and of the operands. For kLoad, kGather, kIndex and kUnless, a is the number of
    // an access or a sum. For kGather, kUnless and kJump, b is a position in gathered_ or in the code.
    int to = 0, a = 0, b = 0, c = 0;
    int64_t extent = 0;
    ScalarFunction function = nullptr;
  };

  using Known = std::map<Id, int>;  // expression -> register that holds it
  int Emit(const Program& p, Id expr, absl::FunctionRef<int(Source)> variable_of, Known& known);
  int EmitWithin(const Program& p, const Expr& e, absl::FunctionRef<int(Source)> variable_of,
                 const Known& known);
  int NewRegister(DType type) {
    initial_.push_back({.i = 0});
    types_.push_back(type);
    return num_registers() - 1;
  }

  std::vector<Instruction> code_;
  std::vector<CodeSum> sums_;
  std::vector<CodeAccess> accesses_;
  std::vector<int> gathered_;  // the registers that hold the indices of gathers
  std::vector<Scalar> initial_;
  std::vector<DType> types_;
  std::vector<int> results_;
};

}  // namespace kiln
