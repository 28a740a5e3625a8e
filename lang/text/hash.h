// Compares programs, independent of their names and ids.
//
// Two programs are equal if these agree: the tree with its loops' extents, kinds, annotations and pipelines; the blocks
// with their iters, resolved bindings and guards, domains, bodies, monoids, annotations and intrinsics; which nests are
// prepared; and the properties of parameters and used buffers (role, shape, dtype, scope, layout, data). Names of
// programs, buffers, loops, blocks and iters, ids, the order of the pools, provenance, dead loops and taint do not
// count. The hash depends only on what counts, so it is stable across runs, machines and versions of libraries. It
// takes about 10 µs for a tiled matmul. Pure; safe from any thread.
#pragma once

#include <string>

#include "lang/base/mixer.h"
#include "lang/program/program.h"

namespace kiln {

// Returns the hash as 32 hexadecimal digits.
std::string ToString(Hash128 hash);

Hash128 HashOf(const Program& program);

// True if the programs are equal. They are compared in full, except expressions and guards, which are compared by
// 128-bit hashes, and marks inside of indices, which are compared by 64-bit hashes.
bool Equal(const Program& a, const Program& b);

}  // namespace kiln
