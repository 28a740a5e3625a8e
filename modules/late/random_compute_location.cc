// Random-Compute-Location: samples where a block is computed: inline, in its own nest, or in a consumer's nest. If
// there are several consumers, it is the first one.
//
//   B[i] = f(i);  for o: for t: C[..] = B[4*o + t]      ->      inline, where it is, or below o
//
// Applies to: blocks in a nest of their own that initialize what they write, write no result of the program, have
// consumers and are outside the prepare phase. Visits the last block first. One sampling site for each block draws its
// location.
#include "lang/analysis/bindings.h"
#include "lang/analysis/dataflow.h"
#include "lang/analysis/placement.h"
#include "modules/default_modules.h"

namespace kiln {
namespace {

void PlaceAtRandom(Schedule& s, Block block) {
  const Program& p = s.program();
  const Id node = s.node(block);
  if (!s.ok() || WritesOutput(p, node) || Consumers(p, node).empty() || p.block(node).accumulates) return;
  const std::vector<Id> loops = LoopsAround(p, node);
  if (p.nodes[loops.empty() ? node : loops.front()].prepare) return;  // its layout is fixed
  if (!loops.empty() && p.nodes[loops.front()].first != p.nodes[loops.front()].last)
    return;  // shares its nest
  for (const Id loop : loops) {
    if (p.nodes[loop].first != p.nodes[loop].last) return;
  }
  s.ComputeAtLocation(block, s.SampleComputeLocation(block));
}

}  // namespace

void RandomComputeLocation(Schedule& s) { EachBlock(s, {BlockModule("place", PlaceAtRandom)}); }

KILN_MODULE("random-compute-location", RandomComputeLocation);

}  // namespace kiln
