// The random test kiln_lower_fuzz --gpu: draws GPU schedules of random programs, and random tiled products. ptxas must
// compile each for two chips, and in three modes of the emulator, each output element must equal the interpreter's. No
// kernel may take more shared memory than the validator's check gpu-shared counts.
#pragma once

#include "tests/support/forked_chunks.h"

namespace kiln {

ForkedTest GpuFuzz();

}  // namespace kiln
