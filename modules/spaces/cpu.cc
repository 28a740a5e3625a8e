// Cpu: the default space. It inlines cheap blocks, tiles blocks that reuse data, places the remaining blocks,
// vectorizes rows, then parallelizes, vectorizes and unrolls.
//
// A module is in the default space if it rarely applies or nearly always gains, since each extra choice costs
// the search trials. dots=1: tile contractions of bytes, bf16 and f16 with the target's intrinsics too.
#include <algorithm>

#include "lang/patterns/intrinsic.h"
#include "modules/default_modules.h"

namespace kiln {

Space Cpu(CpuOptions options) {
  return [options](Schedule& s) {
    const auto families = s.target().matrix_intrinsics();
    const bool dots = options.dots != 0 && std::any_of(families.begin(), families.end(),
                                                       [](const IntrinsicFamily* f) { return f->k > 1; });
    RunSpace(s, "skip-zeros", SkipZeros);
    RunSpace(s, "drop-padded-terms", DropPaddedTerms);
    EachBlock(s, {InlineConstantScalars, AutoInline()});
    std::vector<BlockModule> tiling{AutoInline(), AddRfactor(), PadToTile(), MultiLevelTiling()};
    if (dots)
      tiling.insert(tiling.end() - 1, MultiLevelTilingWithIntrinsic({{}, "vnni,bf16,f16,amx,sdot,usdot"}));
    EachBlock(s, tiling);
    EachBlock(s, {NonTemporalStores(), RowBlocking()});
    RunSpace(s, "random-compute-location", RandomComputeLocation);
    RunSpace(s, "vectorize-rows", VectorizeRows());
    RunSpace(s, "parallelize-vectorize-unroll", ParallelizeVectorizeUnroll({.max_vector = 64}));
  };
}

void CpuSpace(Schedule& s) { Cpu()(s); }

KILN_MODULE("cpu", Cpu, Option("dots", &CpuOptions::dots, Between(0, 1)));

}  // namespace kiln
