#include "search/judge.h"

#include <memory>
#include <utility>

#include "validator/validate.h"

namespace kiln {
namespace {

struct Workspace {
  Workspace(const Target& t, FeatureKind kind) : target(t), extractor(t, kind) {}
  Target target;
  Nests nests;
  KindExtractor extractor;
};

}  // namespace

Judge MakeJudge(const Target& target, FeatureKind kind) {
  return [w = std::make_shared<Workspace>(target, kind)](const Replayed& replayed, FeatureSet& features) {
    w->nests.Read(replayed.program());
    const Verdict verdict = Validate(w->nests, w->target);
    if (!verdict.ok) return verdict.status();
    w->extractor.Extract(w->nests, replayed, features);
    return absl::OkStatus();
  };
}

}  // namespace kiln
