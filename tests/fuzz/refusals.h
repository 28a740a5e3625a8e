// How often primitives refuse what is legal. On every small program, and after every way to split one loop or
// to move one block, each primitive below is asked for all of its operands. Where it refuses, the same change
// is made by brute force, without looking: if the symbolic run agrees then, the refusal was not needed.
#pragma once

#include <cstdint>
#include <map>
#include <string>

namespace kiln::fuzz {

struct Refusals {
  int64_t applied = 0, refused = 0;
  std::map<std::string, int64_t> needless;  // by message, without the names in it
};

// By primitive: parallel, vectorize, split, fuse, reorder, compute-at, bind, cooperative-fetch, pipeline,
// prepare (with each set of inputs being constant), and transform-layout with swizzles.
std::map<std::string, Refusals> StudyRefusals();

}  // namespace kiln::fuzz
