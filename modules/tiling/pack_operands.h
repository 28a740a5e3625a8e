// What multi-level tiling copies of an operand, where, and in which order; and where it puts the epilogue.
#pragma once

#include <set>
#include <vector>

#include "modules/tiling/tile_loops.h"

namespace kiln {

// How a block that is not tiled yet reads an operand, in positions of its loops.
struct OperandIndex {
  std::vector<std::set<int>> loops;  // that the index of a dimension depends on
  std::vector<int> dims;             // the loop that the index steps by one with, by dimension; -1: none does
  int64_t together = 1;              // elements along a reduction that an intrinsic wants next to each other
  bool DependsOn(int loop) const;
};
OperandIndex IndexOf(const Program& program, Id block, Id buffer);

// Whether a spatial loop walks over all of the operand again, as those of the other operand do in a product
// of matrices. What only windows read again, as in a depthwise convolution, is in a cache anyway: a copy
// costs more than it saves.
bool IsReusedWhole(const Program& program, Id block, const OperandIndex& index);

// Pack-Operands: a copy of the operand-th buffer that a tiled block reads, in panels as wide as its innermost
// tiles, made above the loops that read it again:
//
//   for k0: for i1, j1: for k1: for i2, j2: C[..] += A[..] * B[k, j]
//   -> for k0: for j, k1, j2: B.cache[j, k1, j2] = B[..];  for i1, j1: for k1: for i2, j2: .. B.cache[..]
//
// A dimension whose index is a tiled loop is cut by that loop's innermost factor, a random variable; others
// stay whole. The copy is made below the first reduction level and, from there, below the loops that it
// depends on, up to the first one that it does not (K. Goto, R. van de Geijn, "Anatomy of High-Performance
// Matrix Multiplication", TOMS 2008, section 4). So its level is no site of its own: it follows from the
// order of the loops between, which the alternative of read-reuse has chosen.
void PackOperand(Schedule& s, Block block, int operand, const OperandIndex& index, const Tiles& tiles);

// Layout-Rewrite (layout_rewrite.cc): a copy of a constant, made once, in the prepare phase.
void RewriteLayout(Schedule& s, Block block, int operand, const OperandIndex& index, const Tiles& tiles);
bool IsConstant(const Program& program, Id buffer);

// Fuse-Epilogue (fuse_epilogue.cc): an elementwise consumer below the level-th level of its producer's tiles,
// or the last above the first reduction.
void FuseEpilogue(Schedule& s, Block consumer, const Tiles& tiles, int64_t level);

}  // namespace kiln
