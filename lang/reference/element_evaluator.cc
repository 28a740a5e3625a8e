#include "lang/reference/element_evaluator.h"

#include <algorithm>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_cat.h"
#include "lang/analysis/dataflow.h"
#include "lang/reference/body_code.h"

namespace kiln {
namespace {

using Point = absl::InlinedVector<int64_t, 8>;

// Inverts the index with which a block writes: from the position of an element, computes the spatial iters of the
// instance that writes it.
class Solver {
 public:
  Solver() = default;
  Solver(const Program& p, Id block, const Access& dest) {
    const auto iters = p.Iters(p.block(block).iters);
    std::vector<int> spatial;  // positions of the iters that the inverse gives
    IndexMap map;
    for (size_t i = 0; i < iters.size(); ++i) {
      extents_.push_back(iters[i].extent.Known());
      if (iters[i].kind != IterKind::kSpatial) continue;
      spatial.push_back(static_cast<int>(i));
      map.domain.push_back(iters[i].extent.Known());
    }
    const auto extent_of = [&](Source s) { return map.domain[s.id]; };
    std::vector<bool> known(iters.size(), false);
    bool simple = true;
    for (const Id mark : p.List(dest.index)) {
      IndexSum sum = p.SumOf(mark);
      for (IndexSplit& s : sum.splits) {
        const auto at = std::find(spatial.begin(), spatial.end(), s.source.id);
        if (at == spatial.end()) return;  // indexed by a reduction iter: cannot be solved
        s.source = Source::Iter(static_cast<int32_t>(at - spatial.begin()));
      }
      sum = Simplify(sum, extent_of);
      // Tests whether division gives the iters one by one, as the digits of a number: index - offset = Σ scale * iter,
      // where each scale exceeds the sum of all smaller terms.
      int64_t reach = 0;
      std::vector<IndexSplit> digits(sum.splits.begin(), sum.splits.end());
      std::sort(digits.begin(), digits.end(),
                [](const IndexSplit& a, const IndexSplit& b) { return a.scale < b.scale; });
      for (const IndexSplit& s : digits) {
        simple &= s.lower == 1 && s.extent == 0 && (s.scale > reach || digits.size() == 1) &&
                  !known[spatial[s.source.id]];
        known[spatial[s.source.id]] = true;
        reach += s.scale * (extent_of(s.source) - 1);
      }
      map.results.push_back(sum);
    }
    for (const int i : spatial) simple &= known[i] || extents_[i] == 1;
    spatial_ = spatial;
    if (simple) {
      map_ = std::move(map);
      solvable_ = true;
    } else if (std::optional<IndexMap> inverse = Inverse(map)) {
      map_ = std::move(*inverse);
      solvable_ = inverted_ = true;
    }
  }

  bool solvable() const { return solvable_; }

  // Computes the spatial iters of the instance that writes the element at `index`, and sets the other iters of `point`
  // to 0. Returns false if the block does not write this element. Does not consider the block's domain.
  bool Solve(absl::Span<const int64_t> index, Point& point) const {
    point.assign(extents_.size(), 0);
    if (inverted_) {
      for (size_t d = 0; d < index.size(); ++d) {
        if (index[d] < 0 || index[d] >= map_.domain[d]) return false;
      }
      for (size_t i = 0; i < spatial_.size(); ++i) {
        point[spatial_[i]] = kiln::Evaluate(map_.results[i], [&](Source s) { return index[s.id]; });
      }
    } else {
      for (size_t d = 0; d < index.size(); ++d) {
        int64_t rest = index[d] - map_.results[d].offset;
        std::vector<IndexSplit> digits(map_.results[d].splits.begin(), map_.results[d].splits.end());
        std::sort(digits.begin(), digits.end(),
                  [](const IndexSplit& a, const IndexSplit& b) { return a.scale > b.scale; });
        for (const IndexSplit& s : digits) {
          const int64_t value = rest / s.scale;
          point[spatial_[s.source.id]] = value;
          rest -= value * s.scale;
        }
        if (rest != 0) return false;
      }
    }
    for (const int i : spatial_) {
      if (point[i] < 0 || point[i] >= extents_[i]) return false;
    }
    return true;
  }

 private:
  bool solvable_ = false, inverted_ = false;
  std::vector<int> spatial_;
  std::vector<int64_t> extents_;
  IndexMap map_;  // from spatial iters to the index; if inverted, from the index to the iters
};

struct Writer {
  Id block = kNone;
  int result = 0;
  Solver solver;
};

struct Code {
  BodyCode body, initial, combine;
  std::vector<CodeSum> domain;
  std::vector<int64_t> domain_extents;
};

}  // namespace

class ElementEvaluator::Impl {
 public:
  Impl(const Program& program, Input input, Stop stop)
      : p_(program), input_(std::move(input)), stop_(std::move(stop)), writers_(program.buffers.size()) {
    known_.resize(program.buffers.size());
    for (const Id block : Blocks(p_)) {
      const auto dests = p_.Accesses(p_.block(block).dests);
      for (size_t r = 0; r < dests.size(); ++r) {
        writers_[dests[r].buffer].push_back({block, static_cast<int>(r), Solver(p_, block, dests[r])});
      }
    }
  }

  absl::StatusOr<Scalar> Evaluate(Id buffer, int64_t index) {
    const Buffer& b = p_.buffers[buffer];
    if (b.data != kNone) return LoadScalar(b.dtype, (*p_.constants)[b.data].data() + index * SizeOf(b.dtype));
    if (writers_[buffer].empty() && IsGiven(b.role)) return input_(buffer, index);
    const auto known = known_[buffer].find(index);
    if (known != known_[buffer].end()) return known->second;
    absl::StatusOr<Scalar> value = Compute(buffer, index);
    if (value.ok()) known_[buffer].emplace(index, *value);
    return value;
  }

  const Program& program() const { return p_; }

 private:
  std::string At(Id buffer, int64_t index) const {
    return absl::StrCat(p_.Text(p_.buffers[buffer].name), " at ", index);
  }

  absl::StatusOr<Scalar> Compute(Id buffer, int64_t index) {
    const auto shape = p_.Dims(p_.buffers[buffer].shape);
    Point element(shape.size());
    int64_t rest = index;
    for (size_t d = shape.size(); d-- > 0; rest /= shape[d].Known()) element[d] = rest % shape[d].Known();
    for (size_t w = writers_[buffer].size(); w-- > 0;) {
      const Writer& writer = writers_[buffer][w];
      if (!writer.solver.solvable() || p_.block(writer.block).accumulates) {
        return absl::FailedPreconditionError(
            absl::StrCat("block \"", p_.Text(p_.block(writer.block).name),
                         "\" cannot be evaluated by element: it writes at indices that cannot be"
                         " inverted, or is initialized by another block"));
      }
      Point point;
      if (!writer.solver.Solve(element, point)) continue;
      std::vector<Scalar> results;
      const absl::StatusOr<bool> ran = RunAt(writer.block, point, results);
      if (!ran.ok()) return ran.status();
      if (*ran) return results[writer.result];
    }
    return absl::InternalError(absl::StrCat("nothing writes ", At(buffer, index)));
  }

  const Code& CodeOf(Id block) {
    const auto it = code_.find(block);
    if (it != code_.end()) return *it->second;
    const BlockNode& b = p_.block(block);
    const auto iter = [](Source s) { return s.id; };
    auto code = std::make_unique<Code>();
    code->body = BodyCode(p_, p_.List(b.values), 0, iter);
    for (const Id mark : p_.List(b.domain)) {
      code->domain.push_back(MakeSum(p_.SumOf(mark), iter));
      code->domain_extents.push_back(p_.marks[mark].extent.Known());
    }
    if (b.monoid != kNone) {
      const Monoid& monoid = p_.monoids[b.monoid];
      code->combine = BodyCode(p_, p_.List(monoid.combine), 2 * monoid.identity.count, iter);
      code->initial = BodyCode(p_, p_.List(b.initial.count != 0 ? b.initial : monoid.identity), 0, iter);
    }
    return *(code_[block] = std::move(code));
  }

  bool IsStopped() {
    constexpr int64_t kInstancesBetween = 1 << 12;
    if (stop_ && !stopped_ && ++instances_ % kInstancesBetween == 0) stopped_ = stop_();
    return stopped_;
  }

  // Runs a block's instances at a point of the spatial iters, and computes the results. Returns false if no instance
  // exists there, and an error if a load fails; kCancelled if stopped.
  absl::StatusOr<bool> RunAt(Id block, Point point, std::vector<Scalar>& results) {
    const Code& code = CodeOf(block);
    const BlockNode& b = p_.block(block);
    const auto iters = p_.Iters(b.iters);
    absl::Status status;
    const auto load = [&](const CodeAccess& access, int64_t at, Scalar* value) {
      absl::StatusOr<Scalar> loaded =
          at < 0
              ? absl::InternalError(absl::StrCat("block \"", p_.Text(b.name), "\" reads ",
                                                 p_.Text(p_.buffers[access.buffer].name), " out of bounds"))
              : Evaluate(access.buffer, at);
      if (!loaded.ok()) status = loaded.status();
      if (loaded.ok()) *value = *loaded;
      return loaded.ok();
    };
    std::vector<Scalar> values = code.body.initial(), combine = code.combine.initial();
    const size_t count = b.values.count;
    bool any = false;
    results.resize(count);
    if (b.monoid != kNone) {
      std::vector<Scalar> initial = code.initial.initial();
      if (!code.initial.Run(point.data(), initial.data(), load)) return status;
      for (size_t r = 0; r < count; ++r) results[r] = initial[code.initial.result(static_cast<int>(r))];
    }
    for (bool more = true; more;) {
      if (IsStopped()) return absl::CancelledError("stopped");
      bool exists = true;
      for (size_t d = 0; d < code.domain.size() && exists; ++d) {
        const int64_t value = code.domain[d](point.data());
        exists = value >= 0 && value < code.domain_extents[d];
      }
      if (exists) {
        any = true;
        if (!code.body.Run(point.data(), values.data(), load)) return status;
        for (size_t r = 0; r < count; ++r) {
          const Scalar lift = values[code.body.result(static_cast<int>(r))];
          if (b.monoid == kNone)
            results[r] = lift;
          else
            combine[r] = results[r], combine[count + r] = lift;
        }
        if (b.monoid != kNone) {
          code.combine.Run(point.data(), combine.data(), load);
          for (size_t r = 0; r < count; ++r) results[r] = combine[code.combine.result(static_cast<int>(r))];
        }
      }
      more = false;  // moves to the next point of the reduction iters, the last iter fastest
      for (size_t i = iters.size(); i-- > 0 && !more;) {
        if (iters[i].kind != IterKind::kReduction) continue;
        more = ++point[i] < iters[i].extent.Known();
        if (!more) point[i] = 0;
      }
    }
    return any;
  }

  const Program& p_;
  Input input_;
  Stop stop_;
  bool stopped_ = false;
  int64_t instances_ = 0;
  std::vector<std::vector<Writer>> writers_;                 // by buffer
  std::vector<absl::flat_hash_map<int64_t, Scalar>> known_;  // by buffer
  absl::flat_hash_map<Id, std::unique_ptr<Code>> code_;
};

ElementEvaluator::ElementEvaluator(const Program& program, Input input, Stop stop)
    : impl_(std::make_unique<Impl>(program, std::move(input), std::move(stop))) {}
ElementEvaluator::~ElementEvaluator() = default;

absl::StatusOr<Scalar> ElementEvaluator::Evaluate(Id buffer, int64_t index) {
  return impl_->Evaluate(buffer, index);
}

absl::StatusOr<double> ElementEvaluator::Number(Id buffer, int64_t index) {
  const absl::StatusOr<Scalar> value = Evaluate(buffer, index);
  if (!value.ok()) return value.status();
  return IsFloat(impl_->program().buffers[buffer].dtype) ? value->f : static_cast<double>(value->i);
}

}  // namespace kiln
