// Counts how often primitives refuse legal steps. On every small program, and after every way to split one
// loop or to move one block, each primitive below is tried on all operands. If it refuses, the same change is
// made by brute force, without checks. If symbolic execution then gives the same outputs, the refusal was not
// needed.
#pragma once

#include <cstdint>
#include <map>
#include <string>

namespace kiln::fuzz {

struct Refusals {
  int64_t applied = 0, refused = 0;
  std::map<std::string, int64_t> needless;  // by message, without the names in it
};

// Returns the counts by primitive: parallel, vectorize, split, fuse, reorder, compute-at, bind,
// cooperative-fetch, pipeline, prepare (with each set of inputs being constant), and transform-layout with
// swizzles.
std::map<std::string, Refusals> StudyRefusals();

}  // namespace kiln::fuzz
