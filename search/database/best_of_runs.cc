#include "search/database/best_of_runs.h"

namespace kiln {

void BestOfRuns::Offer(const RecordRow& record) {
  const Fastest offered{record.id, Seconds(record), record.flags.race};
  const auto [run, first] = runs_.try_emplace(record.run, offered);
  Fastest& fastest = run->second;
  const bool better = offered.raced != fastest.raced ? offered.raced : offered.seconds < fastest.seconds;
  if (!first && better) fastest = offered;
}

RowId BestOfRuns::Best() const {
  Fastest best;
  for (const auto& [run, fastest] : runs_) {
    const bool tie = fastest.seconds == best.seconds;
    if (best.record == 0 || fastest.seconds < best.seconds || (tie && fastest.record < best.record))
      best = fastest;
  }
  return best.record;
}

}  // namespace kiln
