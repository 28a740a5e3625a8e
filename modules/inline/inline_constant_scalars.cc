// Inline-Constant-Scalars: replaces reads of a scalar whose block reads nothing by the scalar's value.
//
//   c[] = 3;  for i: B[i] = A[i] * c[]      ->      for i: B[i] = A[i] * 3
//
// Applies to: blocks that read nothing and write one buffer without dimensions, which is not a result of the
// program. Structure: none.
#include "absl/strings/str_cat.h"
#include "lang/analysis/dataflow.h"
#include "lang/analysis/placement.h"
#include "modules/module.h"

namespace kiln {
namespace {

absl::Status CheckConstantScalar(const Program& p, Id block) {
  const std::vector<Id> written = WrittenBuffers(p, block);
  if (!ReadBuffers(p, block).empty() || written.size() != 1 || p.buffers[written[0]].shape.count != 0) {
    return absl::FailedPreconditionError(
        absl::StrCat(Describe(p, block), " does not store a constant to a scalar"));
  }
  return CheckComputeInline(p, block);
}

}  // namespace

void InlineConstantScalars(Schedule& s, Block block) {
  if (!s.ok() || s.Skip(CheckConstantScalar(s.program(), s.node(block)))) return;
  s.ComputeInline(block);
}

KILN_MODULE("inline-constant-scalars", InlineConstantScalars);

}  // namespace kiln
