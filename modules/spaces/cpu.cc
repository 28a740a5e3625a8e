// The default CPU spaces: inline cheap blocks, tile blocks that reuse data, place the remaining blocks,
// vectorize rows, then parallelize, vectorize and unroll.
//
// A module is in a default space if it rarely applies or nearly always gains, since each extra choice costs
// the search trials. `cpu` picks one of the other spaces by the target's features.
#include <algorithm>

#include "lang/patterns/intrinsic.h"
#include "modules/default_modules.h"

namespace kiln {
namespace {

// dots: also tile contractions of bytes, bf16 and f16 with the target's dot-product and matrix intrinsics.
void SpaceOf(Schedule& s, bool dots) {
  RunSpace(s, "skip-zeros", SkipZeros);
  RunSpace(s, "skip-padding", SkipPadding);
  EachBlock(s, {InlineConstantScalars, AutoInline()});
  std::vector<BlockModule> tiling{AutoInline(), AddRfactor(), PadToTile(), MultiLevelTiling()};
  if (dots)
    tiling.insert(tiling.end() - 1, MultiLevelTilingWithIntrinsic({{}, "vnni,bf16,f16,amx,sdot,usdot"}));
  EachBlock(s, tiling);
  EachBlock(s, {StreamResults(), RowsAtOnce()});
  RunSpace(s, "random-compute-location", RandomComputeLocation);
  RunSpace(s, "vectorize-rows", VectorizeRows());
  RunSpace(s, "parallelize-vectorize-unroll", ParallelizeVectorizeUnroll({.max_vector = 64}));
}

}  // namespace

void CpuAvx2Space(Schedule& s) { SpaceOf(s, false); }
void CpuAvx512Space(Schedule& s) { SpaceOf(s, false); }
void CpuDotsSpace(Schedule& s) { SpaceOf(s, true); }

void CpuSpace(Schedule& s) {
  const auto families = s.target().matrix_intrinsics();
  const bool dots = std::any_of(families.begin(), families.end(), [](const auto* f) { return f->k > 1; });
  if (dots) return CpuDotsSpace(s);
  s.target().vector_bytes == 64 ? CpuAvx512Space(s) : CpuAvx2Space(s);
}

KILN_MODULE("cpu", CpuSpace);
KILN_MODULE("cpu-avx2", CpuAvx2Space);
KILN_MODULE("cpu-avx512", CpuAvx512Space);
KILN_MODULE("cpu-dots", CpuDotsSpace);

}  // namespace kiln
