#include "backends/lower/passes/unroll_short_loops.h"

#include <iterator>
#include <vector>

#include "absl/algorithm/container.h"
#include "backends/lower/passes/unrolled.h"
#include "lang/analysis/bindings.h"
#include "lang/analysis/cost.h"
#include "lang/analysis/dataflow.h"
#include "lang/analysis/straight_line.h"
#include "lang/schedule/lanes.h"

namespace kiln {
namespace {

class ShortLoops {
 public:
  ShortLoops(Program& p, const IndexPlan& plan, int64_t vector_bytes, const CostTable& costs)
      : p_(p), plan_(plan), vector_bytes_(vector_bytes), costs_(costs) {}

  void WriteOut() {
    StraightLine(
        p_, kRoot, [&](Id block) { return LineOf(block); },
        [&](Id loop, int64_t line) { return UnrolledSize(loop, line); });
  }

 private:
  // Unrolls the loop if it is serial and that pays. If it is vectorized or unrolled then, returns the number of
  // instructions of all its iterations, else 0. `line`: the instructions of one iteration.
  int64_t UnrolledSize(Id node, int64_t line) {
    LoopNode& loop = p_.loop(node);
    if (loop.kind == LoopKind::kVectorized) {
      const int64_t bytes = loop.extent.Known() * WidestResult(p_, BlocksBelow(p_, node));
      return line * ((bytes + vector_bytes_ - 1) / vector_bytes_);
    }
    const int64_t all = line * loop.extent.Known();
    if (IsFullyUnrolled(loop)) return all;
    const bool shorter = (all <= costs_.padding_line && IsPadded(node)) ||
                         (line <= costs_.sum_body && all <= costs_.sum_line && OnlySums(node)) ||
                         (all <= costs_.held_line && HoldsInRegisters(node));
    if (loop.kind != LoopKind::kSerial || !shorter) return 0;
    loop.kind = LoopKind::kUnrolled;
    return all;
  }

  int64_t LineOf(Id block) const {
    std::vector<Id> exprs = BodyExprs(p_, block);
    std::erase_if(exprs, [&](Id e) { return p_.exprs[e].op == Op::kWithin; });
    return Instructions(p_, block, exprs, costs_);
  }

  // True if unrolling the loop would decide a condition: if all other loops in the condition are unrolled, or if the
  // condition is proven to hold in more than half of the loop's iterations, whatever the values of the other loops.
  // False if the condition does not contain the loop's variable, or divides it.
  bool DecidesMost(Id loop, const Condition& condition) const {
    IndexSum rest = condition.value, runs{rest.offset, {}};
    const auto mine =
        absl::c_find_if(rest.splits, [&](const IndexSplit& s) { return s.source == Source::Loop(loop); });
    if (mine == rest.splits.end() || mine->lower != 1 || mine->extent != 0) return false;
    const int64_t scale = mine->scale;
    rest.splits.erase(mine);
    absl::c_copy_if(rest.splits, std::back_inserter(runs.splits), [&](const IndexSplit& s) {
      return s.source.kind != Source::Kind::kLoop || !IsFullyUnrolled(p_.loop(s.source.id));
    });
    if (runs.splits.empty()) return true;
    const Interval range = Bounds(rest, Extents(p_));
    int64_t decided = 0;
    for (int64_t i = 0; i < p_.loop(loop).extent.Known(); ++i)
      decided += range.min + i * scale >= 0 && range.max + i * scale < condition.extent;
    return 2 * decided > p_.loop(loop).extent.Known();
  }

  // True if all blocks of the loop only accumulate into the same elements in each iteration.
  bool OnlySums(Id loop) const {
    return absl::c_all_of(BlocksBelow(p_, loop), [&](Id block) {
      return p_.block(block).accumulates &&
             absl::c_linear_search(plan_.blocks.at(block).reduction_loops, loop);
    });
  }

  // True if the loop's variable, or a computed index, indexes a buffer that LLVM could keep in registers if this loop
  // and a few others were unrolled.
  bool HoldsInRegisters(Id loop) const {
    std::vector<bool> held = KeptInRegisters(p_, plan_, costs_.held_copies);
    for (size_t b = 0; b < held.size(); ++b)
      held[b] = held[b] && plan_.buffers[b].elements * SizeOf(p_.buffers[b].dtype) <=
                               costs_.held_vectors * vector_bytes_;
    return IndexesRegisters(p_, plan_, held, loop);
  }

  bool IsPadded(Id loop) const {
    return absl::c_any_of(BlocksBelow(p_, loop), [&](Id block) {
      return absl::c_any_of(plan_.blocks.at(block).within, [&](const auto& within) {
        return absl::c_any_of(within.second, [&](int c) { return DecidesMost(loop, plan_.conditions[c]); });
      });
    });
  }

  Program& p_;
  const IndexPlan& plan_;
  const int64_t vector_bytes_;
  const CostTable& costs_;
};

}  // namespace

void UnrollShortLoops(Program& program, const IndexPlan& plan, int64_t vector_bytes, const CostTable& costs) {
  ShortLoops(program, plan, vector_bytes, costs).WriteOut();
}

}  // namespace kiln
