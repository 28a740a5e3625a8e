// Special policies by name: rewrites whose conditions match few operators, each switched on unless somebody
// switches it off. They are there to be measured with and without (bench/ablation_bench.cc), in whole models.
//
//   auto policies = Policies::Without("prefetch-streams,boundary-versions");
//   target.policies = *policies;
//   if (target.policies.Has(Policy::kPrefetchStreams)) ...          where the policy is
//
// A Target owns them, so that modules, late steps, features and lowering see the same ones. Build requests,
// the object cache's key, run keys and records carry what is off. `kiln tune --without NAMES` does that.
// docs/reference/policies.md says what each is for. A new policy takes an enumerator, the last, and a row in
// policies.cc.
#pragma once

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"

namespace kiln {

enum class Policy {
  // Import: the program that a task is (lang/graph).
  kMergeDims,
  kForwardCopies,
  kDensifyStridedReads,
  // Modules and late steps: sketches.
  kSkipZeros,
  kDropPaddedTerms,
  kNonTemporalStores,
  kRowBlocking,
  kVectorizeRows,
  kVectorAxis,
  kGroupedLanes,
  kNchwcLayout,
  kRfactorLanes,
  kPaddedPairs,
  kInnermostWindow,
  kInlinedConstants,
  kTransposingTiles,
  // Lowering and code generation: objects.
  kDroppableTerms,
  kBoundaryVersions,
  kShortLoops,
  kPrefetchStreams,
  kPrefetchResults,
  kPrefetchPanels,
  kTransposedStores,
  kWholeVectors,
  kRematerializedLoads,
  kShortExtrema,
  kPowerTables,
};

struct PolicyRow {
  Policy policy;
  absl::string_view name, does;
  absl::string_view decision;  // the number of a page of docs/decisions; "": none tells of it
};

// In the order of the enumerators.
absl::Span<const PolicyRow> PolicyRows();

class Policies {
 public:
  // Names with commas between; "": all are on. kInvalidArgument: there is no such policy; the message lists
  // those that there are.
  static absl::StatusOr<Policies> Without(absl::string_view names);

  bool Has(Policy policy) const { return (off >> static_cast<int>(policy) & 1) == 0; }
  bool HasAll() const { return off == 0; }
  void SwitchOff(Policy policy) { off |= uint64_t{1} << static_cast<int>(policy); }
  // What is off, as Without reads it.
  std::string WithoutText() const;

  bool operator==(const Policies&) const = default;

  uint64_t off = 0;  // a bit for each policy
};

}  // namespace kiln
