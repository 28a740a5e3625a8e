#include "lang/reference/trial_data.h"

#include <cmath>
#include <cstdlib>
#include <map>
#include <string>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "lang/analysis/dataflow.h"
#include "lang/base/random.h"
#include "lang/program/layout.h"
#include "lang/program/scalar.h"
#include "lang/reference/interpreter.h"

namespace kiln {
namespace {

constexpr int64_t kMaxNumber = int64_t{1} << 40;  // larger constants of the program are not tried as bounds

// True if the operation, a division, remainder or shift of integers, is undefined for every second operand in the
// range, whatever the first one is.
bool IsNeverDefined(Op op, DType type, const ValueRange& b) {
  const bool shifts = op == Op::kShl || op == Op::kShr || op == Op::kShrU;
  const ValueRange defined =
      shifts ? ValueRange::Of(0, type == DType::kI1 ? 0 : 8 * SizeOf(type) - 1) : FullRange(type).Without(0);
  return Intersection(b, defined).empty();
}

// An operation, gather or assertion that may fail: it is not proven to be defined for the inputs' ranges.
struct Doubt {
  std::string what;
  Id block = kNone;      // that computes it; kNone for an assertion
  bool certain = false;  // undefined for all inputs
};

// Computes the ranges of all buffers from those of the inputs, and lists the operations that are not proven to be
// defined.
class Flow {
 public:
  Flow(const Program& program, const std::map<Id, ValueRange>& inputs) : p_(program), buffers_(inputs) {
    for (const Id block : BlocksBelow(p_, kRoot)) {
      block_ = block;
      known_.clear();
      Write(p_.block(block));
    }
    for (Id id = 0; id < static_cast<Id>(p_.buffers.size()); ++id) {
      if (p_.buffers[id].role == Role::kStatus && OfBuffer(id, DType::kI32) != ValueRange::Of(0, 0))
        doubts_.push_back({"an assertion"});
    }
  }

  const std::vector<Doubt>& doubts() const { return doubts_; }

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
        // Multiplies by 0 .. all terms: the range of a sum of any number of terms. The start of the sum is added below.
        const ValueRange all = ApplyToRanges(Op::kMul, DType::kI64, DType::kI64, value, count, {});
        const bool positive = value.min > 0 && sum.min >= 0;
        sum = ApplyToRanges(Op::kAdd, type, type, all, sum, {});
        return positive && sum.min >= 0 ? sum.Without(0) : sum;
      }
      case Monoid::Kind::kAnd:
      case Monoid::Kind::kOr: {
        const ValueRange all = Hull(value, start.value_or(value));
        return ApplyToRanges(monoid.kind == Monoid::Kind::kAnd ? Op::kAnd : Op::kOr, type, type, all, all,
                             {});
      }
      default:
        return FullRange(type);
    }
  }

  int64_t Terms(const BlockNode& b) const {
    int64_t terms = 1;
    for (const Iter& iter : p_.Iters(b.iters))
      if (iter.kind == IterKind::kReduction &&
          __builtin_mul_overflow(terms, iter.extent.UpperBound(), &terms))
        return ValueRange::kMax;
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
        const Interval bounds = Bounds(p_.SumOf(e.AsIndex()), [&](Source s) {
          return p_.Iters(p_.block(block_).iters)[s.id].extent.UpperBound();
        });
        return ValueRange::Of(bounds.min, bounds.max);
      }
      case Op::kLoad:
        return OfBuffer(e.AsLoad().buffer, e.dtype);
      case Op::kGather: {
        const auto shape = p_.Dims(p_.buffers[e.AsGather().buffer].shape);
        const std::vector<Id> index = p_.GatherIndex(e);
        for (size_t d = 0; d < index.size(); ++d)
          if (!RangeOf(index[d]).Within(0, shape[d].Known() - 1)) Doubted("an index of a gather");
        return OfBuffer(e.AsGather().buffer, e.dtype);
      }
      case Op::kWithin:
        return Hull(RangeOf(e.AsWithin().value), RangeOf(e.AsWithin().otherwise));
      default:
        break;
    }
    const auto operands = e.Operands();
    if (operands.empty()) return FullRange(e.dtype);
    ValueRange ranges[3];
    for (size_t i = 0; i < operands.size(); ++i) ranges[i] = RangeOf(operands[i]);
    const auto& [a, b, c] = ranges;
    if (IsPartial(e.op, e.dtype) && !IsDefined(e.op, e.dtype, a, b))
      Doubted(absl::StrCat("the ", ToString(e.op), " of ", ToString(e.dtype)),
              IsNeverDefined(e.op, e.dtype, b));
    return ApplyToRanges(e.op, e.dtype, p_.exprs[operands[0]].dtype, a, b, c,
                         operands.size() > 1 && operands[0] == operands[1]);
  }

  void Doubted(const std::string& what, bool certain = false) {
    doubts_.push_back({absl::StrCat(what, " in block ", p_.Text(p_.block(block_).name)), block_, certain});
  }

  static ValueRange OfConstant(const Expr& e) {
    if (!IsFloat(e.dtype)) return ValueRange::Of(e.Number(), e.Number());
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
  std::map<Id, ValueRange> known_;  // by expression of the current block
  Id block_ = kNone;
  std::vector<Doubt> doubts_;
};

constexpr size_t kMaxCandidates = 64;

// Returns the ranges to try for an input, the most general first, at most kMaxCandidates for integers.
std::vector<ValueRange> Candidates(const Program& p, DType type) {
  const ValueRange any = UnrestrictedTrialData(type);
  if (type == DType::kI1) return {any, ValueRange::Of(1, 1), ValueRange::Of(0, 0)};
  if (IsFloat(type)) return {any, ValueRange::Of(1, 7), ValueRange::Of(8, 15)};
  std::vector<ValueRange> ranges = {any, any.Without(0), ValueRange::Of(1, 7), ValueRange::Of(8, 15),
                                    ValueRange::Of(0, 7)};
  const ValueRange full = FullRange(type);
  const auto add = [&](int64_t least, int64_t most) {
    const ValueRange range = ValueRange::Of(least, most);
    if (ranges.size() < kMaxCandidates && range.Within(full) && !range.empty() &&
        absl::c_find(ranges, range) == ranges.end())
      ranges.push_back(range);
  };
  for (const Expr& e : p.exprs) {
    if (e.op == Op::kGather)
      for (const Extent& extent : p.Dims(p.buffers[e.AsGather().buffer].shape))
        add(0, std::min<int64_t>(extent.UpperBound(), 16) - 1);
    // Tries the ranges around each constant of the program and its negative, since operands may be offset by a constant
    // or compared with one.
    if (e.op != Op::kConstant || IsFloat(e.dtype)) continue;
    const int64_t number = e.Number();
    if (number == 0 || number > kMaxNumber || number < -kMaxNumber) continue;
    for (const int64_t offset : {number, -number}) {
      add(offset, offset + 7);
      add(offset + 1, offset + 8);
      add(std::max<int64_t>(0, offset - 8), offset - 1);
    }
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

constexpr size_t kMaxWork = 1 << 22;    // expressions that a search may evaluate
constexpr int kJointDraws = 300;        // attempts to draw ranges for all inputs of a Doubt together
constexpr int kMaxRuns = 40;            // runs of the interpreter
constexpr int64_t kMaxSteps = 1 << 18;  // bytes and instances of a program that is interpreted

using Ranges = std::map<Id, ValueRange>;

// Searches for input ranges that leave fewer and fewer operations in doubt.
class Search {
 public:
  Search(const Program& program, const Ranges& inputs) : p_(program), best_(inputs) {
    doubts_ = Flow(p_, best_).doubts();
    for (const auto& [input, range] : inputs) candidates_[input] = Candidates(p_, p_.buffers[input].dtype);
  }

  const std::vector<Doubt>& doubts() const { return doubts_; }
  const Ranges& best() const { return best_; }

  void Run() {
    for (size_t at = 0; at < doubts_.size();)
      if (!Settle(Drawn(doubts_[at]))) ++at;
  }

  // Returns the best ranges so far with random candidate ranges for all inputs on which a doubtful operation depends.
  // Nothing is proven about them.
  Ranges Guess() {
    Ranges guess = best_;
    for (const Doubt& doubt : doubts_)
      for (const Id input : Drawn(doubt)) guess[input] = Draw(input);
    return guess;
  }

 private:
  // Returns the inputs on which the doubtful operation (or assertion) depends, also through other blocks.
  std::vector<Id> Drawn(const Doubt& doubt) const {
    std::vector<Id> reached, drawn;
    const auto reach = [&](Id block) {
      for (const Id buffer : ReadBuffers(p_, block))
        if (absl::c_find(reached, buffer) == reached.end()) reached.push_back(buffer);
    };
    if (doubt.block == kNone) {
      for (Id id = 0; id < static_cast<Id>(p_.buffers.size()); ++id)
        if (p_.buffers[id].role == Role::kStatus) reached.push_back(id);
    } else {
      reach(doubt.block);
    }
    for (size_t at = 0; at < reached.size(); ++at) {
      const Buffer& buffer = p_.buffers[reached[at]];
      if (IsGiven(buffer.role) && buffer.data == kNone) drawn.push_back(reached[at]);
      for (const Id writer : Writers(p_, reached[at])) reach(writer);
    }
    return drawn;
  }

  bool Try(const Ranges& changes) {
    work_ += p_.exprs.size();
    if (work_ > kMaxWork) return false;
    Ranges tried = best_;
    for (const auto& [input, range] : changes) tried[input] = range;
    std::vector<Doubt> left = Flow(p_, tried).doubts();
    if (left.size() >= doubts_.size()) return false;
    best_ = std::move(tried);
    doubts_ = std::move(left);
    return true;
  }

  // Tries candidate ranges for the inputs until fewer operations are in doubt: for one input alone, for all inputs
  // their n-th candidates, for pairs of inputs, and random ones for all inputs. Keeps the ranges that help. Returns
  // false if none does.
  bool Settle(const std::vector<Id>& inputs) {
    for (const Id input : inputs)
      for (const ValueRange& range : candidates_[input])
        if (Try({{input, range}})) return true;
    for (size_t n = 0; n < 5; ++n) {
      Ranges all;
      for (const Id input : inputs)
        all[input] = candidates_[input][std::min(n, candidates_[input].size() - 1)];
      if (Try(all)) return true;
    }
    for (const Id one : inputs) {
      for (const Id other : inputs) {
        if (one == other) continue;
        for (const ValueRange& first : candidates_[one])
          for (const ValueRange& second : candidates_[other])
            if (Try({{one, first}, {other, second}})) return true;
      }
    }
    for (int n = 0; n < kJointDraws && !inputs.empty(); ++n) {
      Ranges all;
      for (const Id input : inputs) all[input] = Draw(input);
      if (Try(all)) return true;
    }
    return false;
  }

  // Draws a candidate range of the input or, half of the time, a single value in it, about which more can be proven.
  ValueRange Draw(Id input) {
    const std::vector<ValueRange>& ranges = candidates_[input];
    const ValueRange range = ranges[dice_.Below(static_cast<int64_t>(ranges.size()))];
    if (dice_.Flip(0.5)) return range;
    const int64_t value = range.min + dice_.Below(range.max - range.min + 1);
    return range.MayBe(value) ? ValueRange::Of(value, value) : range;
  }

  const Program& p_;
  Ranges best_;
  std::vector<Doubt> doubts_;
  std::map<Id, std::vector<ValueRange>> candidates_;
  RandomDice dice_{Engine({17})};
  size_t work_ = 0;
};

// Returns approximately how many bytes and instances the interpreter would process. Stops counting above kMaxSteps.
int64_t Steps(const Program& p) {
  int64_t steps = 0;
  for (const Id parameter : p.parameters) steps = std::min(steps, kMaxSteps) + BytesOf(p, parameter);
  for (const Id block : BlocksBelow(p, kRoot)) {
    int64_t instances = 1;
    for (const Iter& iter : p.Iters(p.block(block).iters))
      instances = std::min(instances, kMaxSteps) * std::min(iter.extent.UpperBound(), kMaxSteps);
    steps = std::min(steps, kMaxSteps) + instances;
  }
  return steps;
}

TrialData Restrictions(const Program& p, const Ranges& found) {
  TrialData data(p.parameters.size());
  for (size_t i = 0; i < data.size(); ++i) {
    const auto range = found.find(p.parameters[i]);
    if (range != found.end() && range->second != UnrestrictedTrialData(p.buffers[range->first].dtype))
      data[i] = range->second;
  }
  return data;
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

absl::StatusOr<TrialData> TrialRanges(const Program& p, const DrawTrialData& draw) {
  Ranges inputs;
  for (const Id id : p.parameters) {
    const Buffer& buffer = p.buffers[id];
    if (IsGiven(buffer.role)) inputs[id] = UnrestrictedTrialData(buffer.dtype);
  }
  for (Id id = 0; id < static_cast<Id>(p.buffers.size()); ++id) {
    const Buffer& buffer = p.buffers[id];
    if (buffer.role == Role::kConstant && buffer.data != kNone)
      inputs[id] = OfBytes((*p.constants)[buffer.data], buffer.dtype);
  }
  Search search(p, inputs);
  search.Run();
  if (search.doubts().empty()) return Restrictions(p, search.best());
  if (draw && Steps(p) <= kMaxSteps) {
    const auto defined = [&](const TrialData& data) {
      return kiln::Run(p, draw(data), {.only_defined = true, .only_within = true}).ok();
    };
    TrialData data = Restrictions(p, search.best());
    for (int run = 0; run < kMaxRuns; ++run) {
      if (defined(data)) return data;
      data = Restrictions(p, search.Guess());
    }
  }
  // Returns the best ranges if no operation is proven to be undefined for all of them; data in these ranges may well
  // work.
  const auto certain = absl::c_find_if(search.doubts(), [](const Doubt& doubt) { return doubt.certain; });
  if (certain == search.doubts().end()) return Restrictions(p, search.best());
  return absl::FailedPreconditionError(
      absl::StrCat("no trial data are known for which it is defined: ", certain->what,
                   " divides by zero or shifts beyond the width; make the divisor or the amount "
                   "safe in the file "
                   "(for instance by arith.maxsi or arith.andi)"));
}

}  // namespace kiln
