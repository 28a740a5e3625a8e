// Recognizes blocks that read a buffer element by element in another shape, as in B[j/4, j%4] or B[j*4 + k].
#pragma once

#include <optional>
#include <vector>

#include "lang/program/program.h"

namespace kiln {

// The iters of a block as functions of the indices at which it reads the buffer (Source::Iter(dimension)).
// Returns nullopt unless the block provably reads every element, each in exactly one instance.
std::optional<std::vector<IndexSum>> ItersByElement(const Program& program, Id block, Id buffer);

}  // namespace kiln
