// Compares the outputs of a kernel on a GPU with what is wanted. Private to backends/gpu/driver.
//
// Outputs are copied back in blocks (cuda_buffers.h). Errors: kWrongResult at the first difference; kLoadFailed if the
// wanted elements are malformed or in no parameter. A failure of the GPU is not noticed here.
#pragma once

#include <cstdint>
#include <vector>

#include "backends/gpu/driver/cuda_kernel.h"

namespace kiln {

struct WantedOutputs {
  const char* reference = nullptr;  // all outputs, one after the other; null: not compared
  const KernelObject& kernel;       // perhaps with elements that outputs must have
};

// Compares outputs with the reference, then elements with those that the kernel must have. Raises `max_error` to the
// largest error (RunResult::max_error).
GpuFailure CheckOutputs(const CudaBuffers& buffers, const WantedOutputs& wanted, double* max_error);

// Checks that floats are finite where they are in `wanted`, which has all outputs (StressInputs).
GpuFailure CheckFinite(const CudaBuffers& buffers, const std::vector<KernelParam>& params,
                       const char* wanted);

// A block of an output, and its hash.
struct BlockHash {
  size_t param = 0;
  int64_t first = 0, elements = 0;
  uint64_t hash = 0;
};
std::vector<BlockHash> HashesOfOutputs(const CudaBuffers& buffers, const std::vector<KernelParam>& params);

}  // namespace kiln
