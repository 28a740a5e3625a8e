// Auto-Bind: binds what is not bound yet of every nest to blocks and threads, vectorizes and unrolls. It first
// vectorizes inner loops, then binds the outer independent serial loops, and last unrolls inner loops. Does nothing on
// a target without a GPU.
//
//   for i: for j: S      ->      block-x b: for c: thread-x t: vectorized v: S
//
// It ends a space for GPUs, because its steps look at the loop extents that earlier decisions gave. Sampling sites,
// each an upper limit: the elements of a vector; the threads of a block; the blocks, in multiples of the GPU's
// multiprocessors; how many instructions unrolled code may have. A nest without bound loops and without independent
// outer loops runs on one thread.
#include "modules/default_modules.h"

namespace kiln {

Space AutoBind(AutoBindOptions options) {
  return [options](Schedule& s) {
    if (!s.ok() || s.target().gpu == nullptr) return;
    const Gpu& gpu = *s.target().gpu;
    s.VectorizeInner(s.SampleCategorical(options.vectors, {}, "vector"));
    const Value threads = s.SampleCategoricalUpTo(gpu.threads_per_block, options.threads, "threads");
    const Value waves = s.SampleCategorical(options.waves, {}, "waves");
    s.BindRest(s.Multiply({gpu.sms, waves}), threads);
    s.UnrollUpTo(s.SampleCategorical(options.max_unroll, {}, "max-unroll"));
  };
}

KILN_MODULE("auto-bind", AutoBind, Option("vectors", &AutoBindOptions::vectors, From(1)),
            Option("threads", &AutoBindOptions::threads, From(1)),
            Option("waves", &AutoBindOptions::waves, From(1)),
            Option("max-unroll", &AutoBindOptions::max_unroll, From(0)));

}  // namespace kiln
