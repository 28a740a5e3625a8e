#include "absl/strings/str_cat.h"
#include "search/strategies/listed.h"
#include "search/strategies/strategies.h"

namespace kiln {

std::unique_ptr<Strategy> MakeReplay(const StrategyContext& context) {
  return std::make_unique<Listed>(
      [&space = context.space, &traces = context.options.replay]() -> absl::StatusOr<std::vector<Candidate>> {
        std::vector<Candidate> candidates;
        absl::Status last = absl::NotFoundError("no trace was given");
        for (const Trace& trace : traces) {
          absl::StatusOr<Candidate> candidate = CandidateOfTrace(trace, space.sketches);
          const absl::StatusOr<Point> point =
              candidate.ok() ? PointOf(space, space.make_prefilter(), *candidate) : candidate.status();
          if (point.ok()) {
            candidates.push_back(*std::move(candidate));
          } else {
            last = point.status();
          }
        }
        if (!candidates.empty()) return candidates;
        return absl::FailedPreconditionError(
            absl::StrCat("none of the ", traces.size(),
                         " traces to be replayed may be measured; the last: ", last.message()));
      });
}

}  // namespace kiln
