// The default spaces of CPUs: inline what is cheap, tile what reuses, place the rest, then rows, parallel,
// vectors and straight lines.
//
// What stands in a default space applies seldom or always gains: each choice more is one that a search has to
// try. A target takes what fits it: `cpu` is one of the others.
#include "modules/tiling.h"

namespace kiln {
namespace {

struct Machine {
  MultiLevelTilingOptions tiling = {};
  std::vector<int64_t> row_lanes = {0, 32, 64};
};

void SpaceOf(Schedule& s, const Machine& machine) {
  EachBlock(s, {InlineConstantScalars, AutoInline()});
  EachBlock(s, {AutoInline(), AddRfactor(), PadToTile(), MultiLevelTiling(machine.tiling)});
  RunSpace(s, "random-compute-location", RandomComputeLocation);
  RunSpace(s, "vectorize-rows", VectorizeRows({.lanes = machine.row_lanes}));
  RunSpace(s, "parallelize-vectorize-unroll", ParallelizeVectorizeUnroll({.max_vector = 64}));
}

}  // namespace

void CpuAvx2Space(Schedule& s) { SpaceOf(s, {}); }

void CpuAvx512Space(Schedule& s) { SpaceOf(s, {.row_lanes = {0, 64, 128}}); }

void CpuSpace(Schedule& s) { s.target().vector_bytes == 64 ? CpuAvx512Space(s) : CpuAvx2Space(s); }

KILN_MODULE("cpu", CpuSpace);
KILN_MODULE("cpu-avx2", CpuAvx2Space);
KILN_MODULE("cpu-avx512", CpuAvx512Space);

}  // namespace kiln
