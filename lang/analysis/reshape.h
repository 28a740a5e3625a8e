// Recognizes blocks that read a buffer element by element in another shape, as in B[j/4, j%4] or B[j*4 + k].
#pragma once

#include <optional>
#include <vector>

#include "lang/program/program.h"

namespace kiln {

// Returns the position of an access in the memory of a row-major buffer, in elements.
IndexSum FlatIndex(const Program& program, Id buffer, Range index);

// Returns the iters of a block as functions of the indices at which it reads the buffer (Source::Iter(dimension)).
// Returns nullopt unless the block's loads provably read every element, each in exactly one instance. All loads of the
// buffer must have the same indices. Ignores gathers.
std::optional<std::vector<IndexSum>> ItersByElement(const Program& program, Id block, Id buffer);

// The first and last index of a box, by dimension.
using Box = std::vector<Interval>;
// Returns the iters of a block as functions of the indices at which it reads the buffer, if the block reads the
// elements of a box inside the buffer, each in exactly one instance, by one load at indices that are an iter plus a
// constant. `box` receives the box. Otherwise returns nullopt, as for a block that divides an iter which the load
// shifts.
std::optional<std::vector<IndexSum>> ItersByElementOfBox(const Program& program, Id block, Id buffer,
                                                         Box& box);

}  // namespace kiln
