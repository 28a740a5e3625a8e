// Register-Tiles: sums of a tile of the result stay in registers until they are complete.
//
//   for i, j, k: C[i, j] sum= f(i, j, k)
//   ->
//   for i0, j0:
//     for k, i1, j1: acc[i1, j1] sum= f(i, j, k)
//     for i1, j1: C[i, j] = acc[i1, j1]
//
// A choice decides whether a block is tiled. Does not apply to blocks that another module scheduled, that use what they
// load only once, or whose result has fewer than two loops.
#include "lang/analysis/bindings.h"
#include "modules/module.h"
#include "modules/unscheduled.h"

namespace {

using namespace kiln;

struct Options {
  int64_t max_rows = 16;
};

// The loops of a block that move along its result, or those that are summed over.
std::vector<Loop> LoopsOf(Schedule& s, Block block, IterKind kind) {
  const std::vector<Loop> loops = s.GetLoops(block);
  const std::vector<bool> feeds = Feeds(s.program(), s.node(block), kind);
  std::vector<Loop> found;
  for (size_t i = 0; i < loops.size(); ++i) {
    if (feeds[i]) found.push_back(loops[i]);
  }
  return found;
}

BlockModule RegisterTiles(Options options) {
  return {"register-tiles", [options](Schedule& s, Block block) {
            if (!s.ok()) return;
            if (s.Skip(CheckUnscheduled(s.program(), s.node(block)))) return;
            if (s.Skip(CheckReuses(s.program(), s.node(block)))) return;
            std::vector<Loop> order = LoopsOf(s, block, IterKind::kSpatial);
            const std::vector<Loop> sums = LoopsOf(s, block, IterKind::kReduction);
            if (order.size() < 2 || s.Choose("tile", 2) == 0) return;

            const int64_t lanes = s.target().vector_bytes / 4;
            const Loop columns = order.back();
            order.pop_back();
            const Loop rows = order.back();
            order.pop_back();
            const Value width =
                s.SamplePerfectTile(columns, {.parts = 2, .innermost = 64, .multiple = {lanes}}, "columns");
            const Value height = s.SamplePerfectTile(
                rows, {.parts = 2, .innermost = options.max_rows, .within = {width}, .bound = "registers"},
                "rows");
            const auto j = s.Split(columns, {width}), i = s.Split(rows, {height});
            order.insert(order.end(), {i[0], j[0]});
            order.insert(order.end(), sums.begin(), sums.end());
            order.insert(order.end(), {i[1], j[1]});
            s.Reorder(order);

            const std::vector<Loop> combine = s.GetLoops(s.AccumulateAt(block, j[0], "register"));
            s.Unroll(i[1]);
            s.Vectorize(j[1]);
            if (!s.ok()) return;
            s.Unroll(combine[combine.size() - 2]);
            s.Vectorize(combine.back());
          }};
}

}  // namespace

KILN_MODULE("register-tiles", RegisterTiles, kiln::Option("max-rows", &Options::max_rows, kiln::From(1)));
