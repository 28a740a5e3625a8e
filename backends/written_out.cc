#include "backends/written_out.h"

#include <algorithm>
#include <iterator>

#include "absl/algorithm/container.h"
#include "lang/analysis/bindings.h"
#include "lang/analysis/cost.h"
#include "lang/analysis/dataflow.h"
#include "lang/lanes.h"

namespace kiln {
namespace {

// visit(buffer, address) of all that a block reads and writes.
template <typename Visit>
void VisitAddresses(const Program& p, const Plan& plan, Id block, const Visit& visit) {
  const BlockPlan& of_block = plan.blocks.at(block);
  const auto dests = p.Accesses(p.block(block).dests);
  for (size_t i = 0; i < dests.size(); ++i) visit(dests[i].buffer, of_block.dests[i]);
  for (const auto& [load, address] : of_block.addresses) visit(p.exprs[load].a, address);
}

template <typename Wanted>
bool AnyLoop(const Plan& plan, const Sum& sum, const Wanted& wanted) {
  return std::any_of(sum.splits.begin(), sum.splits.end(), [&](const Split& s) {
    if (s.source.kind != Source::Kind::kMark) return wanted(s.source.id);
    const auto mark = plan.marks.find(s.source.id);
    return mark == plan.marks.end() || AnyLoop(plan, mark->second, wanted);  // gathered: known when it runs
  });
}

class PaddingWriter {
 public:
  PaddingWriter(Program& p, const Plan& plan, int64_t vector_bytes)
      : p_(p), plan_(plan), vector_bytes_(vector_bytes) {}

  // Instructions in the straight line that a node becomes; or 0 if it holds a loop that runs.
  int64_t Below(Id node) {
    if (p_.IsBlock(node)) return p_.nodes[node].first == kNone ? LineOf(node) : 0;
    int64_t line = 0;
    bool straight = true;
    for (Id child = p_.nodes[node].first; child != kNone; child = p_.nodes[child].next) {
      const int64_t below = Below(child);
      straight &= below > 0;
      line += below;
    }
    if (node == kRoot || !straight) return 0;
    LoopNode& loop = p_.loop(node);
    if (loop.kind == LoopKind::kVectorized) {
      const int64_t bytes = loop.extent.max * WidestResult(p_, BlocksBelow(p_, node));
      return line * ((bytes + vector_bytes_ - 1) / vector_bytes_);
    }
    const int64_t all = line * loop.extent.max;
    if (IsWrittenOut(loop)) return all;
    if (loop.kind != LoopKind::kSerial || all > kLongestLine || !IsPadded(node)) return 0;
    loop.kind = LoopKind::kUnrolled;
    return all;
  }

 private:
  static constexpr int64_t kLongestLine = 16;

  int64_t LineOf(Id block) const {
    std::vector<Id> exprs = BodyExprs(p_, block);
    std::erase_if(exprs, [&](Id e) { return p_.exprs[e].op == Op::kWithin; });
    return Instructions(p_, block, exprs);
  }

  // Whether most iterations know that the condition holds, or all of them know for which lanes.
  bool DecidesMost(Id loop, const Condition& condition) const {
    Sum rest = condition.value, runs{rest.offset, {}};
    const auto mine =
        absl::c_find_if(rest.splits, [&](const Split& s) { return s.source == Source::Loop(loop); });
    if (mine == rest.splits.end() || mine->lower != 1 || mine->extent != 0) return false;
    const int64_t scale = mine->scale;
    rest.splits.erase(mine);
    absl::c_copy_if(rest.splits, std::back_inserter(runs.splits), [&](const Split& s) {
      return s.source.kind != Source::Kind::kLoop || !IsWrittenOut(p_.loop(s.source.id));
    });
    if (runs.splits.empty()) return true;
    const Interval range = Bounds(rest, Extents(p_));
    int64_t decided = 0;
    for (int64_t i = 0; i < p_.loop(loop).extent.max; ++i)
      decided += range.min + i * scale >= 0 && range.max + i * scale < condition.extent;
    return 2 * decided > p_.loop(loop).extent.max;
  }

  bool IsPadded(Id loop) const {
    return absl::c_any_of(BlocksBelow(p_, loop), [&](Id block) {
      return absl::c_any_of(plan_.blocks.at(block).within, [&](const auto& within) {
        return absl::c_any_of(within.second, [&](int c) { return DecidesMost(loop, plan_.conditions[c]); });
      });
    });
  }

  Program& p_;
  const Plan& plan_;
  const int64_t vector_bytes_;
};

}  // namespace

void WriteOutPadding(Program& program, const Plan& plan, int64_t vector_bytes) {
  PaddingWriter(program, plan, vector_bytes).Below(kRoot);
}

bool IsWrittenOut(const LoopNode& loop) {
  return loop.kind == LoopKind::kUnrolled || loop.kind == LoopKind::kVectorized || loop.extent.max <= 1;
}

std::vector<bool> KeptInRegisters(const Program& p, const Plan& plan) {
  const auto runs = [&](Id loop) { return !IsWrittenOut(p.loop(loop)); };
  std::vector<bool> registers;
  for (const BufferPlan& buffer : plan.buffers)
    registers.push_back(buffer.used && buffer.place == Place::kAlloca);
  for (const auto& [block, of_block] : plan.blocks) {
    VisitAddresses(p, plan, block, [&](Id buffer, const Sum& address) {
      if (registers[buffer] && AnyLoop(plan, address, runs)) registers[buffer] = false;
    });
  }
  return registers;
}

bool IndexesRegisters(const Program& p, const Plan& plan, const std::vector<bool>& registers, Id loop) {
  bool indexes = false;
  for (const Id block : BlocksBelow(p, loop)) {
    VisitAddresses(p, plan, block, [&](Id buffer, const Sum& address) {
      indexes |= registers[buffer] && AnyLoop(plan, address, [&](Id at) { return at == loop; });
    });
  }
  return indexes;
}

}  // namespace kiln
