#include "search/sampler/descent.h"

#include <algorithm>

#include "search/purposes.h"
#include "search/sampler/annealing.h"
#include "search/sampler/archive.h"
#include "search/sampler/prior.h"
#include "trace/mutate.h"

namespace kiln {
namespace {

constexpr size_t kMaxValues = 512;

struct Change {
  const Point* centre = nullptr;
  int site = 0;  // kNoSite: the sketch changes instead
  Decision value;
  int sketch = 0;
};

constexpr int kNoSite = -1;

// A chooser for a program with one changed decision. The first sampling step that asks gets the changed value. Each
// later step keeps the centre's decision if it is still in the step's support, and draws otherwise.
class Changed final : public Chooser {
 public:
  Changed(const Change& change, Dice& dice) : change_(change), dice_(dice) {}
  Decision Choose(const Site& site) override {
    const std::vector<ReplayedSite>& sites = change_.centre->replayed.sites;
    const int i = change_.site + asked_++;
    if (i == change_.site) return change_.value;
    const bool keeps = i < static_cast<int>(sites.size()) && site.distribution.Contains(sites[i].decision);
    return keeps ? sites[i].decision : site.distribution.Sample(dice_);
  }
  int ChooseStructure(absl::string_view, int) override { return 0; }

 private:
  const Change& change_;
  Dice& dice_;
  int asked_ = 0;
};

std::vector<Decision> ValuesOf(const ReplayedSite& site, Dice& dice) {
  std::vector<Decision> values;
  if (site.before == nullptr) return values;  // the step has only one value
  const Distribution& support = site.distribution;
  if (support.SupportSize() <= static_cast<double>(kMaxValues)) {
    support.ForEach([&](const Decision& value) { values.push_back(value); });
  } else {
    while (values.size() < kMaxValues) values.push_back(support.Propose(site.decision, dice).to);
    std::sort(values.begin(), values.end());
    values.erase(std::unique(values.begin(), values.end()), values.end());
  }
  std::erase(values, site.decision);
  return values;
}

}  // namespace

absl::StatusOr<std::vector<Candidate>> Neighbourhood(const DescentContext& c,
                                                     absl::Span<const Candidate> centres,
                                                     const CostModel& model) {
  const std::vector<Prefilter> prefilters = MakePrefilters(c.space, c.pool);
  const auto engine = [&](uint64_t index, uint64_t step) {
    return EngineOf(c.seed, c.task, c.round, index, step, Purpose::kDescend);
  };
  std::vector<Point> points;
  for (const Candidate& centre : centres) {
    absl::StatusOr<Point> point = PointOf(c.space, prefilters[0], centre);
    if (!point.ok()) return point.status();
    points.push_back(*std::move(point));
  }
  std::vector<Change> changes;
  for (const Point& point : points) {
    for (int i = 0; i < static_cast<int>(point.replayed.sites.size()); ++i) {
      RandomDice dice(engine(changes.size(), 0));
      for (Decision& value : ValuesOf(point.replayed.sites[i], dice))
        changes.push_back({&point, i, std::move(value), point.sketch});
    }
    for (int sketch = 0; sketch < static_cast<int>(c.space.sketches.size()); ++sketch) {
      if (sketch != point.sketch) changes.push_back({&point, kNoSite, {}, sketch});
    }
  }
  std::vector<std::optional<Point>> found(changes.size());
  c.pool.For(static_cast<int>(changes.size()), [&](int i, int thread) {
    const Change& change = changes[i];
    const Replayed& from = change.centre->replayed;
    RandomDice dice(engine(i, 1));
    Changed chooser(change, dice);
    absl::StatusOr<Replayed> replayed =
        change.site == kNoSite ? ChangeSketch(from, c.space.sketches[change.sketch], c.space.original, dice,
                                              {.opening = c.space.Opening(change.sketch)})
                               : ReplayFrom(from, change.site, chooser, {.snapshots = false});
    if (!replayed.ok()) return;
    Point point{change.sketch, *std::move(replayed), {}};
    if (prefilters[thread](point.replayed, point.features).ok()) found[i] = std::move(point);
  });
  FeatureBatch features;
  std::vector<const Point*> valid;
  for (const std::optional<Point>& point : found) {
    if (!point) continue;
    features.Append(point->features);
    valid.push_back(&*point);
  }
  if (valid.empty()) return std::vector<Candidate>();
  const absl::StatusOr<std::vector<double>> scores = model.Predict(features);
  if (!scores.ok()) return scores.status();
  const EnergyScale scale = ScaleOf(*scores);
  Archive archive(static_cast<int>(valid.size()));
  for (size_t i = 0; i < valid.size(); ++i) archive.Add(*valid[i], scale.Energy((*scores)[i]));
  return archive.Take(model, scale.spread);
}

}  // namespace kiln
