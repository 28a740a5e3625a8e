#include "backends/lower/passes/unrolled.h"

#include <algorithm>

#include "lang/analysis/dataflow.h"

namespace kiln {
namespace {

// Calls visit(buffer, address) for everything that a block reads and writes.
template <typename Visit>
void VisitAddresses(const Program& p, const IndexPlan& plan, Id block, const Visit& visit) {
  const BlockPlan& of_block = plan.blocks.at(block);
  const auto dests = p.Accesses(p.block(block).dests);
  for (size_t i = 0; i < dests.size(); ++i) visit(dests[i].buffer, of_block.dests[i]);
  for (const auto& [load, address] : of_block.addresses) visit(BufferRead(p.exprs[load]), address);
}

template <typename Wanted>
bool AnyLoop(const IndexPlan& plan, const IndexSum& sum, const Wanted& wanted) {
  return std::any_of(sum.splits.begin(), sum.splits.end(), [&](const IndexSplit& s) {
    if (s.source.kind != Source::Kind::kMark) return wanted(s.source.id);
    const auto mark = plan.marks.find(s.source.id);
    return mark == plan.marks.end() || AnyLoop(plan, mark->second, wanted);  // not there: a computed index
  });
}

}  // namespace

bool IsFullyUnrolled(const LoopNode& loop) {
  return loop.kind == LoopKind::kUnrolled || loop.kind == LoopKind::kVectorized ||
         loop.kind == LoopKind::kVirtualThread || loop.extent.Known() <= 1;
}

std::vector<bool> KeptInRegisters(const Program& p, const IndexPlan& plan, int64_t copies) {
  const auto runs = [&](Id loop) {
    return !IsFullyUnrolled(p.loop(loop)) && p.loop(loop).extent.Known() > copies;
  };
  std::vector<bool> registers;
  for (const BufferPlan& buffer : plan.buffers)
    registers.push_back(buffer.used() && buffer.place == Memory::kAlloca);
  for (const auto& [block, of_block] : plan.blocks) {
    VisitAddresses(p, plan, block, [&](Id buffer, const IndexSum& address) {
      if (registers[buffer] && AnyLoop(plan, address, runs)) registers[buffer] = false;
    });
  }
  return registers;
}

bool IndexesRegisters(const Program& p, const IndexPlan& plan, const std::vector<bool>& registers, Id loop) {
  bool indexes = false;
  for (const Id block : BlocksBelow(p, loop)) {
    VisitAddresses(p, plan, block, [&](Id buffer, const IndexSum& address) {
      indexes |= registers[buffer] && AnyLoop(plan, address, [&](Id at) { return at == loop; });
    });
  }
  return indexes;
}

}  // namespace kiln
