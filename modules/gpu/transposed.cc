#include "modules/gpu/transposed.h"

#include <algorithm>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "lang/analysis/access.h"
#include "lang/analysis/axes.h"
#include "lang/analysis/bindings.h"
#include "lang/analysis/dataflow.h"
#include "lang/analysis/placement.h"
#include "modules/unscheduled.h"

namespace kiln {
namespace {

// Returns the loop along which neighbours of an operand lie: the only loop that its last index depends on, if that
// moves by one element. Returns -1 if there is no such loop, or if the block reads the operand at several places.
int LoopAlong(const Program& p, Id block, Id buffer, const AccessPattern& access) {
  const bool simple =
      LoadsOf(p, block, buffer).size() == 1 && !access.loops.empty() && access.loops.back().size() == 1;
  return simple ? access.steps.back() : -1;
}

}  // namespace

absl::StatusOr<Transposed> FindTransposed(const Program& p, Id block) {
  const auto no = [&](absl::string_view why) {
    return absl::FailedPreconditionError(absl::StrCat(Describe(p, block), " ", why));
  };
  if (p.block(block).monoid != kNone) return no("is a reduction");
  if (WrittenBuffers(p, block).size() != 1) return no("does not store one result");
  if (absl::Status status = CheckUnscheduled(p, block); !status.ok()) return status;
  const std::vector<Id> around = LoopsAround(p, block), buffers = ReadBuffers(p, block);
  const std::vector<ResultAxis> axes = ResultAxes(p, ResolveBindings(p, block));
  if (axes.empty() || axes.back().contiguous.size() != 1) return no("stores no neighbours");
  Transposed found;
  found.columns = static_cast<int>(absl::c_find(around, axes.back().contiguous[0]) - around.begin());
  found.widest = SizeOf(p.buffers[WrittenBuffers(p, block)[0]].dtype);
  for (size_t operand = 0; operand < buffers.size(); ++operand) {
    const AccessPattern access = AccessOf(p, block, buffers[operand]);
    const int rows = LoopAlong(p, block, buffers[operand], access);
    if (rows < 0 || rows == found.columns || !access.DependsOn(found.columns)) continue;
    if (!found.operands.empty() && rows != found.rows) continue;
    const int64_t bytes = SizeOf(p.buffers[buffers[operand]].dtype);
    found.narrowest = found.operands.empty() ? bytes : std::min(found.narrowest, bytes);
    found.widest = std::max(found.widest, bytes);
    found.rows = rows;
    found.operands.push_back(static_cast<int>(operand));
  }
  if (found.operands.empty()) return no("reads no operand across the rows of its result");
  return found;
}

}  // namespace kiln
