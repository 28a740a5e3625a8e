// Copies of a kernel's constants, which timed runs use in turn (TimingPolicy::rotated_bytes).
#pragma once

#include <cstdint>
#include <vector>

#include "backends/runner/runner.h"

namespace kiln {

// How many copies there are in all, the original included. What the prepare function writes takes the place of the
// constants that it reads.
int64_t CopiesOfConstants(const KernelObject& kernel, int64_t rotated_bytes);

// The memory of the copies, without the original.
int64_t BytesOfCopies(const KernelObject& kernel, int64_t rotated_bytes);

// Copies constants and prepared parameters. Returns the kernel's arguments for each copy, the given ones first; nothing
// if one copy is enough, or there is no memory. Call it after the prepare function. Nothing is freed.
std::vector<std::vector<void*>> CopyConstants(const KernelObject& kernel, const std::vector<void*>& arguments,
                                              int64_t rotated_bytes);

}  // namespace kiln
