#include "search/judge.h"

#include <memory>
#include <utility>

#include "search/features.h"
#include "validator/validate.h"

namespace kiln {
namespace {

struct Workspace {
  explicit Workspace(const Target& t) : target(t), extractor(t) {}
  Target target;
  Nests nests;
  FeatureExtractor extractor;
  FeatureBatch rows;
};

}  // namespace

Judge MakeJudge(const Target& target) {
  return [w = std::make_shared<Workspace>(target)](const Replayed& replayed, FeatureSet& features) {
    w->nests.Read(replayed.program());
    const Verdict verdict = Validate(w->nests, w->target);
    if (!verdict.ok) return verdict.status();
    w->rows.Clear();
    w->extractor.Append(w->nests, w->rows);
    features.dim = w->rows.dim;
    features.values = w->rows.values;
    return absl::OkStatus();
  };
}

}  // namespace kiln
