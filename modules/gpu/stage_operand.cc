#include "absl/algorithm/container.h"
#include "lang/analysis/access.h"
#include "lang/analysis/cost.h"
#include "lang/analysis/dataflow.h"
#include "lang/analysis/placement.h"
#include "modules/gpu/gpu.h"
#include "modules/unscheduled.h"

namespace kiln {
namespace {

constexpr int64_t kCopies = 4;  // most instructions of a block that counts as a copy or as padding

// True if each index of the block's result is a constant, or an iter plus a constant. Then a tile of the result needs
// only a tile of the iters. In contrast, a tile of X[h*28 + w] may need every w.
bool WritesAtIters(const Program& p, Id block) {
  return absl::c_all_of(ResultIndices(p, block), [](const IndexSum& index) {
    return index.IsConstant() ||
           (index.splits.size() == 1 &&
            index == IndexSum::Constant(index.offset) + IndexSum::Of(index.splits.front().source));
  });
}

// Returns the block that writes the buffer, if it does little more than copy or pad and only `reader` reads the buffer.
// Then the copy may be made where it is read. Otherwise returns kNone.
Id CopierOf(const Program& p, Id reader, Id buffer, const Target& target) {
  for (const Id producer : Producers(p, reader)) {
    if (!Writes(p, producer, buffer)) continue;
    const bool only_copies = p.buffers[buffer].role == Role::kTemporary &&
                             p.block(producer).monoid == kNone && Writers(p, buffer).size() == 1 &&
                             WrittenBuffers(p, producer).size() == 1 &&
                             Consumers(p, producer) == std::vector<Id>{reader} &&
                             CheckUnscheduled(p, producer).ok() && Gathers(p, producer).empty() &&
                             WritesAtIters(p, producer) && Instructions(p, producer, target.costs) <= kCopies;
    return only_copies ? producer : kNone;
  }
  return kNone;
}

}  // namespace

bool MovesPlainly(Schedule& s, Block block) {
  const Program& p = s.program();
  return absl::c_all_of(ReadBuffers(p, s.node(block)), [&](Id buffer) {
    const Id copier = CopierOf(p, s.node(block), buffer, s.target());
    return copier == kNone || CopiedLoad(p, copier) != kNone;
  });
}

Block StageOperand(Schedule& s, Block block, int operand, Loop step) {
  if (!s.ok()) return {};
  const Program& p = s.program();
  const Id node = s.node(block), copier = CopierOf(p, node, ReadBuffers(p, node)[operand], s.target());
  if (copier == kNone || !CheckComputeAt(p, copier, s.node(step)).ok()) {
    const Block copy = s.CacheRead(block, operand, "shared");
    s.ComputeAt(copy, step);
    return copy;
  }
  const std::vector<Id> producers = Producers(p, node);
  const Block copy = s.GetProducers(block)[absl::c_find(producers, copier) - producers.begin()];
  s.ComputeAt(copy, step);
  s.SetScope(copy, "shared");
  return copy;
}

void FetchTile(Schedule& s, Block copy) {
  if (!s.ok()) return;
  const Program& p = s.program();
  const int64_t bytes = SizeOf(p.buffers[WrittenBuffers(p, s.node(copy))[0]].dtype);
  std::vector<int64_t> elements;
  for (int64_t n = 1; n * bytes <= s.target().vector_bytes; n *= 2) elements.push_back(n);
  s.CooperativeFetch(copy, s.SampleCategorical(elements, {}, "fetch"));
}

}  // namespace kiln
