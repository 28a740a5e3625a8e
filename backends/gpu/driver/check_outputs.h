// Compares the outputs of a kernel on a GPU with what is wanted. Private to backends/gpu/driver.
#pragma once

#include "backends/gpu/driver/cuda_kernel.h"

namespace kiln {

struct WantedOutputs {
  const char* reference = nullptr;  // all outputs, one after the other; null: not compared
  const KernelObject& kernel;       // perhaps with elements that outputs must have
};

// kWrongResult if an output differs. `max_error`: RunResult::max_error.
GpuFailure CheckOutputs(const CudaBuffers& buffers, const WantedOutputs& wanted, double* max_error);

}  // namespace kiln
