// The kinds of features that a cost model may use, by name:
//
//   ansor              a row for each store (search/features/features.h); the default, and the kind that the
//                      analytic model reads
//   context-relation   a row for each store, the same for any space (search/features/context.h)
//   configuration      the decisions (search/features/configuration.h)
//   gpu                `ansor` for GPUs: a row for each statement (search/features/gpu_features.h)
//
// The target chooses between `ansor` and `gpu`.
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

// Returns the kind that programs for the target have: `gpu` in place of `ansor` if it is a GPU, and the other
// way round if it is none.
FeatureKind KindFor(const Target& target, FeatureKind kind);

// Returns the column with the cycles of the program, as log2(1 + x), which an analytic model found; nullopt
// for kinds without it.
std::optional<int> CyclesColumn(FeatureKind kind);

// Returns the number of columns of a row. Every kind has a different number.
int FeatureDim(FeatureKind kind);

// Extracts features of the kind that KindFor gives. Keeps its memory: use one per thread.
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
