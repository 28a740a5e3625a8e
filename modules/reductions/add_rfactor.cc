// Add-Rfactor: computes partial results of a reduction if its spatial loops do not fill the cores or lanes.
//
//   for i: for k: B[i] sum= f(i, k)
//   -> chunks: for k0: for i: for k1: B.rf[k0, i] sum= f(i, k0, k1)
//              for i: for k0: B[i] sum= B.rf[k0, i]
//   -> lanes:  for i0: { for k0: for i1: vectorized k1: B.rf[i1, k1] sum= f(..)         i1 unrolled, B.rf in
//                        for i1: vectorized k1: B[i0, i1] sum= B.rf[i1, k1] }           registers
//
// Applies to: unscheduled reductions that initialize their results. Chunks: there are several cores, and fewer spatial
// iterations than reduction iterations and than max-jobs-per-core times the cores. Lanes, under Policy::kRfactorLanes:
// tiles would reuse loads, and the last reduction loop gives lanes, but no spatial loop (matrix times vector).
// Structure:  rfactor = none | chunks | lanes; alternatives that do not apply are left out
// Sampling sites: the number of chunks; the rows and the lanes
#include "absl/strings/str_cat.h"
#include "lang/analysis/bindings.h"
#include "lang/analysis/cost.h"
#include "lang/analysis/dataflow.h"
#include "lang/schedule/lanes.h"
#include "modules/default_modules.h"
#include "modules/unscheduled.h"

namespace kiln {
namespace {

struct Nest {
  std::vector<Loop> spatial, reduction;
  int64_t spatial_extent = 1, reduction_extent = 1;
  bool spatial_lanes = false;
};

Nest NestOf(Schedule& s, Block block) {
  Nest nest;
  const std::vector<bool> reduces = Feeds(s.program(), s.node(block), IterKind::kReduction);
  const std::vector<Loop> loops = s.GetLoops(block);
  for (size_t i = 0; i < loops.size(); ++i) {
    const int64_t extent = s.ExtentOf(loops[i]);
    (reduces[i] ? nest.reduction_extent : nest.spatial_extent) *= extent;
    (reduces[i] ? nest.reduction : nest.spatial).push_back(loops[i]);
    if (!reduces[i] && extent > 1) nest.spatial_lanes |= Lanes(s.program(), s.node(block), s.node(loops[i]));
  }
  return nest;
}

void Chunks(Schedule& s, Block block, const Nest& nest) {
  const Loop all = nest.reduction.size() == 1 ? nest.reduction[0] : s.Fuse(nest.reduction);
  const auto parts = s.Split(all, {s.SamplePerfectTile(all, {.parts = 2, .innermost = 0}, "chunks")});
  s.Rfactor(block, parts[0]);
  std::vector<Loop> order{parts[0]};
  order.insert(order.end(), nest.spatial.begin(), nest.spatial.end());
  s.Reorder(order);
}

void InLanes(Schedule& s, Block block, const Nest& nest, int64_t lanes) {
  const Value rows = s.SampleTile(nest.spatial.back(), {.parts = 2, .innermost = 8, .waste = 0.1}, "rows");
  Schedule::TileOptions tile{.parts = 2, .innermost = 64};
  if (s.ExtentOf(nest.reduction.back()) % lanes == 0) tile.multiple = {lanes};
  const Value width = s.SamplePerfectTile(nest.reduction.back(), tile, "lanes");
  const std::vector<Loop> i = s.Split(nest.spatial.back(), {rows}),
                          k = s.Split(nest.reduction.back(), {width});
  std::vector<Loop> order{i[0]};
  order.insert(order.end(), nest.reduction.begin(), nest.reduction.end() - 1);
  order.insert(order.end(), {k[0], i[1], k[1]});
  s.Reorder(order);
  const Block combine = s.Rfactor(block, k[1], -1, "register");
  s.ReverseComputeAt(combine, i[0]);
  const std::vector<Loop> result = s.GetLoops(combine);
  for (const Loop loop : {i[1], result[result.size() - 2]}) s.Unroll(loop);
  for (const Loop loop : {k[1], result.back()}) s.Vectorize(loop);
}

}  // namespace

BlockModule AddRfactor(AddRfactorOptions options) {
  return {"add-rfactor", [options](Schedule& s, Block block) {
            if (!s.ok() || s.Skip(CheckReduces(s.program(), s.node(block)))) return;
            const Program& p = s.program();
            const Nest nest = NestOf(s, block);
            const bool chunks = s.target().cores > 1 && nest.spatial_extent < nest.reduction_extent &&
                                nest.spatial_extent < options.max_jobs_per_core * s.target().cores;
            const bool lanes = s.target().policies.Has(Policy::kRfactorLanes) && HasReuse(p, s.node(block)) &&
                               !nest.spatial_lanes && !nest.spatial.empty() &&
                               Lanes(p, s.node(block), s.node(nest.reduction.back()));
            const std::string why =
                absl::StrCat("its ", nest.spatial_extent, " spatial iterations occupy the ", s.target().cores,
                             " cores; and its spatial loops give lanes, or it is a row that reuses nothing");
            if (s.Skip(chunks || lanes ? absl::OkStatus() : absl::FailedPreconditionError(why))) return;
            std::vector<std::string> ways = {"none", chunks ? "chunks" : "lanes"};
            if (chunks && lanes) ways.push_back("lanes");
            const int picked = s.Choose("rfactor", ways);
            if (picked == 1 && chunks) return Chunks(s, block, nest);
            const DType type = p.buffers[WrittenBuffers(p, s.node(block))[0]].dtype;
            if (picked > 0) InLanes(s, block, nest, s.target().vector_bytes / SizeOf(type));
          }};
}

KILN_MODULE("add-rfactor", AddRfactor,
            Option("max-jobs-per-core", &AddRfactorOptions::max_jobs_per_core, From(1)));

}  // namespace kiln
