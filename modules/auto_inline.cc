// Auto-Inline: elementwise work becomes part of its consumers, or of its producer.
//
//   B[i, j] = f(A[i, j]);  C[i, j] = g(B[i, j])      ->      C[i, j] = g(f(A[i, j]))
//
// Applies to: plain stores that cost little to compute again (no special functions, unless there is one
// reader that reads each element once) and that do not permute what they read, so that no contiguous access
// becomes a strided one.
#include "lang/analysis/cost.h"
#include "lang/analysis/dataflow.h"
#include "lang/analysis/placement.h"
#include "modules/tiling.h"

namespace kiln {

void AutoInline(Schedule& s, Block block) {
  const Program& p = s.program();
  const Id node = s.node(block);
  if (!s.ok()) return;
  if (CheckComputeInline(p, node).ok() && KeepsOrder(p, node) && (IsCheap(p, node) || IsReadOnce(p, node))) {
    s.ComputeInline(block);
  } else if (CheckReverseComputeInline(p, node).ok() && KeepsOrder(p, node)) {
    s.ReverseComputeInline(block);
  }
}

KILN_MODULE("auto-inline", AutoInline);

}  // namespace kiln
