// The default space of a CPU: inline what is cheap, tile what reuses, place the rest, then parallel, vector
// and straight lines.
#include "modules/tiling.h"

namespace kiln {

void CpuSpace(Schedule& s) {
  EachBlock(s, {AutoInline, MultiLevelTiling({.structure = "SSRSRS", .max_innermost = 64})});
  RunSpace(s, "random-compute-location", RandomComputeLocation);
  RunSpace(s, "parallelize-vectorize-unroll", ParallelizeVectorizeUnroll({.max_vector = 64}));
}

KILN_MODULE("cpu", CpuSpace);

}  // namespace kiln
