// Compares the outputs of a kernel on a GPU with reference outputs, or with single elements that the request lists.
// Private to backends/gpu/driver.
//
// Outputs are copied back in parts of 16 MiB (cuda_buffers.h). Errors: kWrongResult at the first part or single element
// that differs (the message names one element); kLoadFailed if the wanted elements are malformed or in no parameter. A
// failure of the GPU is not noticed here.
#pragma once

#include <cstdint>
#include <vector>

#include "backends/gpu/driver/cuda_kernel.h"

namespace kiln {

struct WantedOutputs {
  const char* reference = nullptr;  // all outputs, one after the other; null: not compared
  const KernelObject& kernel;       // perhaps with elements that outputs must have
};

// Compares all outputs with wanted.reference, unless it is null, then single elements with those that the kernel's
// object lists (kWantedElementsField). Raises `max_error` to the largest error (RunResult::max_error).
GpuFailure CheckOutputs(const CudaBuffers& buffers, const WantedOutputs& wanted, double* max_error);

// Checks that each float of the outputs is finite where it is finite in `wanted`, which holds all outputs one after the
// other, for stress inputs (StressInputs).
GpuFailure CheckFinite(const CudaBuffers& buffers, const std::vector<KernelParam>& params,
                       const char* wanted);

// A part of an output, at most 16 MiB, and the hash of its bytes. HashesOfOutputs returns those of all outputs.
struct BlockHash {
  size_t param = 0;
  int64_t first = 0, elements = 0;
  uint64_t hash = 0;
};
std::vector<BlockHash> HashesOfOutputs(const CudaBuffers& buffers, const std::vector<KernelParam>& params);

}  // namespace kiln
