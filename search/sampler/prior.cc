#include "search/sampler/prior.h"

#include "absl/strings/str_cat.h"
#include "search/purposes.h"

namespace kiln {
namespace {

constexpr int kTriesPerDraw = 100;

}  // namespace

absl::StatusOr<Point> DrawValid(const SearchSpace& space, const Prefilter& prefilter, int sketch,
                                Dice& dice) {
  absl::Status last;
  for (int i = 0; i < kTriesPerDraw; ++i) {
    absl::StatusOr<Point> point =
        DrawPoint(space, prefilter, dice, i == 0 ? std::optional<int>(sketch) : std::nullopt);
    if (point.ok()) return point;
    last = point.status();
  }
  return absl::FailedPreconditionError(
      absl::StrCat("none of ", kTriesPerDraw,
                   " draws from the space gives a program that may be measured; the last: ", last.message()));
}

absl::StatusOr<std::vector<std::shared_ptr<const Point>>> DrawPrior(const SearchSpace& space,
                                                                    const std::vector<Prefilter>& prefilters,
                                                                    int n, uint64_t seed, int task,
                                                                    ThreadPool& pool) {
  const auto sketches = static_cast<int>(space.sketches.size());
  std::vector<absl::StatusOr<Point>> drawn(n, absl::UnknownError(""));
  pool.For(n, [&](int i, int thread) {
    RandomDice dice(EngineOf(seed, task, 0, i, 0, Purpose::kPrior));
    drawn[i] = DrawValid(space, prefilters[thread], i % sketches, dice);
  });
  std::vector<std::shared_ptr<const Point>> points;
  for (absl::StatusOr<Point>& point : drawn) {
    if (!point.ok()) return point.status();
    points.push_back(std::make_shared<const Point>(*std::move(point)));
  }
  return points;
}

std::vector<Prefilter> MakePrefilters(const SearchSpace& space, const ThreadPool& pool) {
  std::vector<Prefilter> prefilters;
  for (int i = 0; i < pool.threads(); ++i) prefilters.push_back(space.make_prefilter());
  return prefilters;
}

}  // namespace kiln
