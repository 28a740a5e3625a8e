// Compares the outputs of a kernel on a GPU with what is wanted. Private to backends/gpu/driver.
//
// Outputs are copied back in blocks (cuda_buffers.h). Errors: kWrongResult if an output differs; a failure of the GPU
// is not noticed here.
#pragma once

#include <cstdint>
#include <vector>

#include "backends/gpu/driver/cuda_kernel.h"

namespace kiln {

struct WantedOutputs {
  const char* reference = nullptr;  // all outputs, one after the other; null: not compared
  const KernelObject& kernel;       // perhaps with elements that outputs must have
};

// `max_error`: RunResult::max_error.
GpuFailure CheckOutputs(const CudaBuffers& buffers, const WantedOutputs& wanted, double* max_error);

// Floats must be finite where they are in `wanted`, which has all outputs (StressInputs).
GpuFailure CheckFinite(const CudaBuffers& buffers, const std::vector<KernelParam>& params,
                       const char* wanted);

// A hash of each block of each output.
struct BlockHash {
  size_t param = 0;
  int64_t first = 0, elements = 0;
  uint64_t hash = 0;
};
std::vector<BlockHash> HashesOfOutputs(const CudaBuffers& buffers, const std::vector<KernelParam>& params);

}  // namespace kiln
