// Parallelize-Vectorize-Unroll: parallelizes outer loops, vectorizes inner loops and unrolls the rest. It ends a space,
// because its steps look at the loop extents that earlier decisions gave (NeurIPS'22, appendix A).
//
//   for i: for j: for v: S      ->      parallel f: ... unrolled ... vectorized v: S
//
// Applies to: all nests of a program. On a target with one core, it vectorizes and unrolls but does not parallelize.
// One sampling site decides how many instructions unrolled code may have.
#include "modules/default_modules.h"

namespace kiln {

Space ParallelizeVectorizeUnroll(ParallelizeVectorizeUnrollOptions options) {
  return [options](Schedule& s) {
    if (s.target().cores > 1) s.ParallelizeOuter(s.target().cores * options.max_jobs_per_core);
    s.VectorizeInner(options.max_vector);
    s.UnrollUpTo(s.SampleCategorical(options.max_unroll, {}, "max-unroll"));
  };
}

KILN_MODULE("parallelize-vectorize-unroll", ParallelizeVectorizeUnroll,
            Option("max-jobs-per-core", &ParallelizeVectorizeUnrollOptions::max_jobs_per_core, From(1)),
            Option("max-vector", &ParallelizeVectorizeUnrollOptions::max_vector, From(1)),
            Option("max-unroll", &ParallelizeVectorizeUnrollOptions::max_unroll, From(0)));

}  // namespace kiln
