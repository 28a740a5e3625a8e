// The test kiln_lower_fuzz --gpu: random programs under random steps that make kernels, and random tiled products.
// Each becomes PTX that ptxas takes for two chips, and runs in the emulator in three modes, where each element must be
// equal to the interpreter's. No kernel takes more shared memory than the check gpu-shared counts.
#pragma once

#include "tests/support/forked_chunks.h"

namespace kiln {

ForkedTest GpuFuzz();

}  // namespace kiln
