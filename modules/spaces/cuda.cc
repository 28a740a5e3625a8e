// Cuda: the default space of GPUs. It leaves out terms that multiply zeros, inlines cheap blocks, tiles rows,
// reductions, contractions and transposed operands for threads, then binds the other nests to blocks and threads,
// vectorizes and unrolls.
#include "modules/default_modules.h"

namespace kiln {

std::string CudaText(const Target&, const CudaOptions&) {
  return "skip-zeros | drop-padded-terms | each-block(inline-constant-scalars | auto-inline ordered=0) | "
         "each-block(auto-inline ordered=0 | keep-rows | cross-thread-reduction | "
         "pad-for-threads | tile-for-threads | stage-transposed) | auto-bind";
}

Space Cuda(CudaOptions options) {
  return internal::SpaceOfText([options](const Target& target) { return CudaText(target, options); });
}

KILN_MODULE("cuda", CudaText);

}  // namespace kiln
