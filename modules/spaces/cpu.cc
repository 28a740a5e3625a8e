// The default spaces of CPUs: inline what is cheap, tile what reuses, place the rest, then rows, parallel,
// vectors and straight lines.
//
// What stands in a default space applies seldom or always gains: each choice more is one that a search has to
// try. A target takes what fits it: `cpu` is one of the others.
#include <algorithm>

#include "lang/patterns/intrinsic.h"
#include "modules/default_modules.h"

namespace kiln {
namespace {

// dots: contractions of bytes, bf16 and f16 are tiled with intrinsics too.
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
