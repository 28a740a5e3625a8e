// Policies: named rewrites whose conditions match few operators. The user can switch each of them, so that its gain can
// be measured in whole models (bench/ablation_bench.cc). Most are on unless the user switches them off. A few are off
// unless the user asks for them: a list names them with a + before the name.
//
//   auto policies = Policies::Without("prefetch-streams,boundary-versions");
//   target.policies = *policies;
//   if (target.policies.Has(Policy::kPrefetchStreams)) ...          where the rewrite is
//
// A Target owns them, so that modules, late steps, features and lowering see the same ones. Build requests,
// the object cache's key, run keys and records name the policies that are switched. `kiln tune --without NAMES`
// switches policies. docs/reference/policies.md says what each is for. To add a policy, append an enumerator
// and add a row in policies.cc.
#pragma once

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"

namespace kiln {

enum class Policy {
  // Policies of the import, which change the program of a task (lang/graph).
  kMergeDims,
  kForwardCopies,
  kDensifyStridedReads,
  // Policies of modules and late steps, which change sketches.
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
  // Policies of lowering and code generation, which change compiled objects.
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
  kShareStorage,
  kFirstIteration,
  kGuards,
  kPrefetchNests,
  // Policies of the import of models (lang/graph/simplify_model.h), which change which tasks a model has.
  kFoldAffine,
  kAssumeNumbers,
  kNarrowVariances,
  kChannelsLast,
};

struct PolicyRow {
  Policy policy;
  absl::string_view name, does;
  absl::string_view decision;  // the number of its page in docs/decisions; "" if it has none
  bool on_request = false;     // off unless the user asks for it
};

// Returns a row for each policy, in the order of the enumerators.
absl::Span<const PolicyRow> PolicyRows();

class Policies {
 public:
  // Parses a list of policies that are to be switched, separated by commas: "a" switches a off, and "+b" switches b on,
  // which is off otherwise. "b" leaves it off. "" switches none. kInvalidArgument, with a list of the known names, for
  // an unknown name and for a + before a policy that is on anyway.
  static absl::StatusOr<Policies> Without(absl::string_view names);

  bool Has(Policy policy) const;
  // True if the user has switched no policy.
  bool AreUsual() const { return switched == 0; }
  bool IsSwitched(Policy policy) const { return (switched >> static_cast<int>(policy) & 1) != 0; }
  void Switch(Policy policy) { switched |= uint64_t{1} << static_cast<int>(policy); }
  // Returns the names of the policies that are switched, in the form that Without reads.
  std::string WithoutText() const;

  bool operator==(const Policies&) const = default;

  uint64_t switched = 0;  // a bit for each policy
};

}  // namespace kiln
