// Counts how often primitives refuse legal steps. On every small program, and after every sequence of one or two steps
// that split a loop, bind a loop or move a block, tries some primitives on all operands. If one refuses, makes the same
// change by brute force, without checks. If symbolic execution then gives the same outputs, the refusal was not needed.
// The refusal of a swizzle was not needed if the swizzle maps elements one to one.
#pragma once

#include <cstdint>
#include <map>
#include <string>

namespace kiln::fuzz {

struct Refusals {
  int64_t applied = 0, refused = 0;
  std::map<std::string, int64_t> needless;  // by message, without the names in it
};

// Returns how often each primitive applied, refused and refused needlessly: parallel, vectorize, split, fuse, reorder,
// compute-at, bind, cooperative-fetch, pipeline, prepare, and transform-layout with swizzles. Each program is first
// tried without constants. It is tried again with each set of its inputs as constants, but then after at most one step,
// and without swizzles.
std::map<std::string, Refusals> StudyRefusals();

}  // namespace kiln::fuzz
