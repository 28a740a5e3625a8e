#include "lang/analysis/trial_data.h"

#include <cmath>
#include <cstdlib>
#include <map>
#include <string>

#include "absl/strings/str_cat.h"
#include "lang/analysis/dataflow.h"
#include "lang/layout.h"
#include "lang/scalar.h"

namespace kiln {
namespace {

bool IsShift(Op op) { return op == Op::kShl || op == Op::kShr || op == Op::kShrU; }

bool IsPartial(const Expr& e) { return DividesIntegers(e) || IsShift(e.op); }

bool IsDefined(Op op, DType type, const ValueRange& a, const ValueRange& b) {
  if (IsShift(op)) return b.Within(0, type == DType::kI1 ? 0 : 8 * SizeOf(type) - 1);
  if (b.MayBe(0)) return false;
  if (op == Op::kDivU || op == Op::kRemU || !b.MayBe(-1)) return true;
  return !a.MayBe(FullRange(type).min);
}

// Whatever the operands are.
bool IsNeverDefined(Op op, DType type, const ValueRange& b) {
  const ValueRange defined = IsShift(op) ? ValueRange::Of(0, type == DType::kI1 ? 0 : 8 * SizeOf(type) - 1)
                                         : FullRange(type).Without(0);
  return Intersection(b, defined).empty();
}

// Ranges of all buffers, given those of the inputs.
class Flow {
 public:
  Flow(const Program& program, const std::map<Id, ValueRange>& inputs) : p_(program), buffers_(inputs) {}

  bool never_defined() const { return never_defined_; }

  // The first operation that may be undefined; empty if there is none.
  std::string Undefined() {
    for (const Id block : BlocksBelow(p_, kRoot)) {
      block_ = block;
      known_.clear();
      Write(p_.block(block));
      if (!undefined_.empty()) break;
    }
    return undefined_;
  }

 private:
  void Write(const BlockNode& b) {
    const auto dests = p_.Accesses(b.dests);
    const auto initial = p_.List(b.initial), values = p_.List(b.values);
    for (size_t r = 0; r < dests.size(); ++r) {
      const ValueRange value = RangeOf(values[r]);
      ValueRange result = value;
      if (b.monoid != kNone)
        result = Reduced(b, value, initial.empty() ? std::nullopt : std::optional(RangeOf(initial[r])), r);
      const auto [at, first] = buffers_.try_emplace(dests[r].buffer, result);
      if (!first) at->second = Hull(at->second, result);
    }
  }

  ValueRange Reduced(const BlockNode& b, const ValueRange& value, std::optional<ValueRange> start,
                     size_t result) {
    const Monoid& monoid = p_.monoids[b.monoid];
    const DType type = p_.exprs[p_.List(monoid.identity)[result]].dtype;
    if (b.accumulates) start = FullRange(type);
    switch (monoid.kind) {
      case Monoid::Kind::kMax:
      case Monoid::Kind::kMin:
        return start ? Hull(value, *start) : value;
      case Monoid::Kind::kSum: {
        ValueRange sum = start.value_or(ValueRange::Of(0, 0));
        const ValueRange count = ValueRange::Of(0, Terms(b));
        // Between no term and all of them, then the start.
        const ValueRange all = ApplyToRanges(Op::kMul, DType::kI64, DType::kI64, value, count, {});
        const bool positive = value.min > 0 && sum.min >= 0;
        sum = ApplyToRanges(Op::kAdd, type, type, all, sum, {});
        return positive && sum.min >= 0 ? sum.Without(0) : sum;
      }
      default:
        return FullRange(type);
    }
  }

  int64_t Terms(const BlockNode& b) const {
    int64_t terms = 1;
    for (const Iter& iter : p_.Iters(b.iters))
      if (iter.kind == IterKind::kReduction && __builtin_mul_overflow(terms, iter.extent.max, &terms))
        return ValueRange::kMost;
    return terms;
  }

  ValueRange RangeOf(Id id) {
    const auto found = known_.find(id);
    if (found != known_.end()) return found->second;
    const ValueRange range = Compute(p_.exprs[id]);
    known_[id] = range;
    return range;
  }

  ValueRange Compute(const Expr& e) {
    switch (e.op) {
      case Op::kConstant:
        return OfConstant(e);
      case Op::kIndex: {
        const Interval bounds = Bounds(
            p_.SumOf(e.a), [&](Source s) { return p_.Iters(p_.block(block_).iters)[s.id].extent.max; });
        return ValueRange::Of(bounds.min, bounds.max);
      }
      case Op::kLoad:
        return OfBuffer(e.a, e.dtype);
      case Op::kGather:
        for (const Id index : p_.GatherIndex(e)) RangeOf(index);
        return OfBuffer(static_cast<Id>(e.bits), e.dtype);
      case Op::kWithin:
        return Hull(RangeOf(e.a), RangeOf(e.b));
      default:
        break;
    }
    const int arity = Arity(e.op);
    if (arity == 0) return FullRange(e.dtype);
    const ValueRange a = RangeOf(e.a), b = arity > 1 ? RangeOf(e.b) : ValueRange(),
                     c = arity > 2 ? RangeOf(e.c) : ValueRange();
    if (IsPartial(e) && undefined_.empty() && !IsDefined(e.op, e.dtype, a, b)) {
      undefined_ = absl::StrCat("the ", ToString(e.op), " of ", ToString(e.dtype), " in block ",
                                p_.Text(p_.block(block_).name));
      never_defined_ = IsNeverDefined(e.op, e.dtype, b);
    }
    return ApplyToRanges(e.op, e.dtype, p_.exprs[e.a].dtype, a, b, c, arity > 1 && e.a == e.b);
  }

  static ValueRange OfConstant(const Expr& e) {
    if (!IsFloat(e.dtype)) return ValueRange::Of(e.bits, e.bits);
    const double value = ConstantValue(e).f;
    if (!(value > -9e18 && value < 9e18)) return FullRange(e.dtype);
    return ValueRange{static_cast<int64_t>(std::floor(value)), static_cast<int64_t>(std::ceil(value)),
                      value == 0, value == -1};
  }

  ValueRange OfBuffer(Id buffer, DType type) const {
    const auto found = buffers_.find(buffer);
    return found == buffers_.end() ? FullRange(type) : found->second;
  }

  const Program& p_;
  std::map<Id, ValueRange> buffers_;
  std::map<Id, ValueRange> known_;  // of the block's expressions
  Id block_ = kNone;
  std::string undefined_;
  bool never_defined_ = false;
};

bool HasPartial(const Program& p) {
  for (const Expr& e : p.exprs)
    if (IsPartial(e)) return true;
  return false;
}

// What is tried for an input, the most general first.
std::vector<ValueRange> Candidates(const Program& p, DType type) {
  const ValueRange any = UnrestrictedTrialData(type);
  if (type == DType::kI1) return {any, ValueRange::Of(1, 1), ValueRange::Of(0, 0)};
  if (IsFloat(type)) return {any, ValueRange::Of(1, 7), ValueRange::Of(8, 15)};
  std::vector<ValueRange> ranges = {any, any.Without(0), ValueRange::Of(1, 7), ValueRange::Of(8, 15),
                                    ValueRange::Of(0, 7)};
  const ValueRange full = FullRange(type);
  for (const Expr& e : p.exprs) {  // operands may be offset by a constant
    if (e.op != Op::kConstant || IsFloat(e.dtype) || e.bits == 0 || std::abs(e.bits) > (int64_t{1} << 40))
      continue;
    for (const int64_t offset : {e.bits, -e.bits})
      for (const ValueRange& range :
           {ValueRange::Of(offset, offset + 7), ValueRange::Of(offset + 1, offset + 8)})
        if (range.Within(full)) ranges.push_back(range);
  }
  return ranges;
}

ValueRange OfBytes(const std::string& bytes, DType type) {
  ValueRange range = ValueRange::None();
  for (size_t at = 0; at + SizeOf(type) <= bytes.size(); at += SizeOf(type)) {
    const Scalar value = LoadScalar(type, bytes.data() + at);
    if (IsFloat(type)) return FullRange(type);
    range = Hull(range, ValueRange::Of(value.i, value.i));
  }
  return range;
}

}  // namespace

ValueRange UnrestrictedTrialData(DType type) {
  switch (type) {
    case DType::kI1:
      return ValueRange::Of(0, 1);
    case DType::kI8:
      return ValueRange::Of(-8, 7);
    case DType::kU8:
      return ValueRange::Of(0, 15);
    case DType::kI16:
      return ValueRange::Of(-32, 31);
    default:
      return IsFloat(type) ? ValueRange::Of(-1, 1) : ValueRange::Of(0, 7);
  }
}

absl::StatusOr<std::vector<std::optional<ValueRange>>> TrialRanges(const Program& p) {
  std::vector<std::optional<ValueRange>> ranges(p.parameters.size());
  if (!HasPartial(p)) return ranges;
  std::map<Id, ValueRange> inputs;
  std::vector<size_t> drawn;  // positions of the parameters whose data are drawn
  for (size_t i = 0; i < p.parameters.size(); ++i) {
    const Buffer& buffer = p.buffers[p.parameters[i]];
    if (!IsGiven(buffer.role)) continue;
    inputs[p.parameters[i]] = UnrestrictedTrialData(buffer.dtype);
    drawn.push_back(i);
  }
  for (Id id = 0; id < static_cast<Id>(p.buffers.size()); ++id) {
    const Buffer& buffer = p.buffers[id];
    if (buffer.role == Role::kConstant && buffer.data != kNone)
      inputs[id] = OfBytes((*p.constants)[buffer.data], buffer.dtype);
  }
  Flow unrestricted(p, inputs);
  const std::string first = unrestricted.Undefined();
  if (first.empty()) return ranges;
  // One input alone, then all of them from the same list, then pairs.
  const auto attempt = [&](const std::vector<std::pair<size_t, ValueRange>>& changes) {
    std::map<Id, ValueRange> tried = inputs;
    for (const auto& [i, range] : changes) tried[p.parameters[i]] = range;
    if (!Flow(p, tried).Undefined().empty()) return false;
    for (const auto& [i, range] : changes)
      if (range != UnrestrictedTrialData(p.buffers[p.parameters[i]].dtype)) ranges[i] = range;
    return true;
  };
  const auto of = [&](size_t i) { return Candidates(p, p.buffers[p.parameters[i]].dtype); };
  for (const size_t i : drawn)
    for (const ValueRange& range : of(i))
      if (attempt({{i, range}})) return ranges;
  for (size_t n = 0; n < 5; ++n) {
    std::vector<std::pair<size_t, ValueRange>> all;
    for (const size_t i : drawn) all.emplace_back(i, of(i)[std::min(n, of(i).size() - 1)]);
    if (attempt(all)) return ranges;
  }
  for (const size_t i : drawn) {
    for (const size_t j : drawn) {
      if (i == j) continue;
      for (const ValueRange& one : of(i))
        for (const ValueRange& other : of(j))
          if (attempt({{i, one}, {j, other}})) return ranges;
    }
  }
  // Intervals cannot tell: the data as they are may well be right.
  if (!unrestricted.never_defined()) return ranges;
  return absl::FailedPreconditionError(
      absl::StrCat("no trial data are known for which it is defined: ", first,
                   " divides by zero or shifts beyond the width; make the divisor or the amount "
                   "safe in the file "
                   "(for instance by arith.maxsi or arith.andi)"));
}

}  // namespace kiln
