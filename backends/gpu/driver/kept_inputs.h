// Inputs of a seed, which the process keeps: candidates of a task have equal inputs, and to make them takes longer than to
// run most kernels. At most 1 GiB is kept. One thread.
#pragma once

#include <cstdint>

#include "backends/runner/runner.h"

namespace kiln {

// Writes elements of the parameter at `position`, as FillInput(seed, position, ...).
void CopyInput(uint64_t seed, int position, const KernelParam& param, int64_t first, int64_t elements,
               char* out);

}  // namespace kiln
