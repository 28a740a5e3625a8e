// When two programs are the same, whatever their names and ids.
//
// What counts: the tree with its loops' extents and kinds, blocks with their iters, resolved bindings and
// guards, bodies, monoids, annotations, and what parameters and buffers in use are (role, shape, dtype,
// scope, layout, data). Names, ids, order of the pools, provenance, and dead loops do not count; nor whether
// a loop is tainted. The hash is of the meaning alone, so it is stable across runs, machines and versions of
// the libraries; about 10 µs for a tiled matmul. Pure; safe from any thread.
#pragma once

#include <string>

#include "lang/base/mixer.h"
#include "lang/program/program.h"

namespace kiln {

// 32 hexadecimal digits.
std::string ToString(Hash128 hash);

Hash128 HashOf(const Program& program);

// True if the programs are the same (compared in full,
// but for expressions, which are compared by their 128-bit hashes).
bool Equal(const Program& a, const Program& b);

}  // namespace kiln
