#include "search/propose/prefilter.h"

#include <memory>
#include <utility>

#include "lang/base/stopwatch.h"
#include "validator/validate.h"

namespace kiln {
namespace {

struct Workspace {
  Workspace(const Target& t, FeatureKind kind) : target(t), extractor(t, kind) {}
  Target target;
  LoopNestSummary nests;
  KindExtractor extractor;
};

}  // namespace

Prefilter MakePrefilter(const Target& target, FeatureKind kind, std::atomic<int64_t>* feature_time) {
  return [feature_time, w = std::make_shared<Workspace>(target, kind)](const Replayed& replayed,
                                                                       FeatureSet& features) {
    w->nests.Read(replayed.program());
    const Verdict verdict = Validate(w->nests, w->target);
    if (!verdict.ok) return verdict.status();
    double seconds = 0;
    {
      const Stopwatch watch(&seconds);
      w->extractor.Extract(w->nests, replayed, features);
    }
    if (feature_time != nullptr) *feature_time += static_cast<int64_t>(seconds * 1e9);
    return absl::OkStatus();
  };
}

}  // namespace kiln
