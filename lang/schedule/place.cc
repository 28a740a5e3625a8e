#include "lang/schedule/place.h"

#include <algorithm>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "lang/analysis/bindings.h"
#include "lang/analysis/dataflow.h"
#include "lang/analysis/instances.h"
#include "lang/analysis/placement.h"
#include "lang/base/defect.h"
#include "lang/base/unknown_name.h"
#include "lang/schedule/rewrite.h"

namespace kiln {
namespace {

Id SharedScope(const Program& p, Id block, const std::vector<Id>& others, Id scope) {
  for (const Id other : others) {
    const Id shared = LowestCommonAncestor(p, {block, other});
    if (IsAncestor(p, scope, shared)) scope = shared;
  }
  return scope;
}

}  // namespace

absl::StatusOr<Id> PlaceBelow(const Program& program, Id loop, const std::vector<Id>& before,
                              const std::vector<Id>& after, const std::string& place) {
  std::vector<Id> children;
  for (Id child = program.nodes[loop].first; child != kNone; child = program.nodes[child].next)
    children.push_back(child);
  const auto position = [&](Id node) {
    return std::find(children.begin(), children.end(), ChildTowards(program, loop, node)) - children.begin();
  };
  int64_t first = 0, last = static_cast<int64_t>(children.size()), at = 0;
  for (const Id node : before) {
    if (IsAncestor(program, loop, node)) first = std::max<int64_t>(first, position(node) + 1);
  }
  for (const Id node : after) {
    if (IsAncestor(program, loop, node)) last = std::min<int64_t>(last, position(node));
  }
  children.push_back(kNone);
  if (place == "first") return children[first];
  if (place == "last") return children[last];
  if (!absl::SimpleAtoi(place, &at)) {
    constexpr absl::string_view kPlaces[] = {"first", "last", "the number of a child"};
    return absl::InvalidArgumentError(UnknownName("place", place, kPlaces));
  }
  if (at < first || at > last) {
    return absl::FailedPreconditionError(
        absl::StrCat("place ", at, " of ", Describe(program, loop),
                     " is not between what it reads and who reads it: ", first, " .. ", last));
  }
  return children[at];
}

Id ScopeOfReaders(const Program& program, Id block) {
  Id scope = kRoot;
  if (KILN_DEFECT("cache-write.late")) return scope;
  bool used = WritesOutput(program, block);
  for (const Id buffer : WrittenBuffers(program, block)) {
    const std::vector<Id> readers = Readers(program, buffer);
    used |= !readers.empty();
    scope = SharedScope(program, block, readers, scope);
  }
  if (used) return scope;
  const std::vector<Id> loops = LoopsAround(program, block);
  const size_t complete = std::min(ReductionStart(program, block), loops.size());
  return complete == 0 ? kRoot : loops[complete - 1];
}

Id ScopeOfWriters(const Program& program, Id block, Id buffer) {
  if (KILN_DEFECT("cache-read.early")) return kRoot;
  return SharedScope(program, block, Writers(program, buffer), kRoot);
}

}  // namespace kiln
