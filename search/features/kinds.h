// The kinds of features that a cost model may use, by name:
//
//   ansor              a row for each store (search/features/features.h); the default
//   context-relation   a row for each store, independent of the names in a space (search/features/context.h)
//   configuration      the decisions (search/features/configuration.h)
//   gpu                `ansor` for GPUs: a row for each statement (search/features/gpu_features.h)
//
// The target chooses between `ansor` and `gpu` (KindFor). The analytic model reads these two kinds only.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "search/features/features.h"
#include "search/features/gpu_roofline.h"
#include "trace/replay.h"

namespace kiln {

enum class FeatureKind { kAnsor, kContextRelation, kConfiguration, kGpu };

const std::vector<std::string>& FeatureKindNames();  // in the order of the enum
std::optional<FeatureKind> FeatureKindOf(absl::string_view name);

// Returns the kind of features for programs of a target: for a GPU `gpu` in place of `ansor`, otherwise `ansor` in
// place of `gpu`. All other kinds stay.
FeatureKind KindFor(const Target& target, FeatureKind kind);

// Returns the column that holds log2(1 + x) of the program's cycles x, as an analytic model estimates them; nullopt for
// kinds of features without it.
std::optional<int> CyclesColumn(FeatureKind kind);

// Returns the number of columns of a row of this kind of features. Every kind has a different number.
int FeatureDim(FeatureKind kind);

// Extracts features of programs, of the kind that KindFor gives for the target and `kind`. Keeps its memory: use one
// per thread.
class KindExtractor {
 public:
  KindExtractor(const Target& target, FeatureKind kind);

  // Extracts the features of a replayed program. `nests` must have read replayed.program().
  void Extract(const LoopNestSummary& nests, const Replayed& replayed, FeatureSet& features);
  FeatureSet Extract(const Replayed& replayed);

 private:
  const FeatureKind kind_;
  FeatureExtractor ansor_;
  std::optional<GpuRoofline> gpu_;
  Footprints footprints_;
  LoopNestSummary nests_;
};

}  // namespace kiln
