// Makes the inputs of kernels from a seed, and keeps them in the process: candidates of a task have equal inputs, and
// making them takes longer than running most kernels. At most 1 GiB is kept: larger inputs are not kept, and all kept
// ones are dropped when another would not fit. One thread.
#pragma once

#include <cstdint>

#include "backends/runner/runner.h"

namespace kiln {

// Writes `elements` elements of an input, from `first` on, to `out`. They are those that FillInput makes from this seed
// for the parameter at `position`.
void CopyInput(uint64_t seed, int position, const KernelParam& param, int64_t first, int64_t elements,
               char* out);

}  // namespace kiln
