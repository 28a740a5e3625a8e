// Layout-Rewrite: a constant that a tiled block reads lies, once and for all, in the order in which the tiles
// walk it.
//
//   for .. tiles of i, j, k: C[..] += A[..] * W[k, j]      (W a constant)
//   ->
//   prepare for k, j: W.cache[k, j] = W[k, j]              layout (j / width, k, j % width)
//   for .. tiles of i, j, k: C[..] += A[..] * W.cache[..]
//
// Applies to: operands of multi-level-tiling that are constants: of them the alternatives of read-reuse are
// this, in place of pack-operands, whose copy would be made in every call.
#include "modules/pack_operands.h"

namespace kiln {

bool IsConstant(const Program& p, Id buffer) { return p.buffers[buffer].role == Role::kConstant; }

void RewriteLayout(Schedule& s, Block block, int operand, const OperandIndex& index, const Tiles& tiles) {
  const Block copy = s.CacheRead(block, operand);
  LayOutPanels(s, block, operand, index, tiles);
  s.Prepare(copy);
}

}  // namespace kiln
