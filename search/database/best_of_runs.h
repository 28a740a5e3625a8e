// Which record stands for a workload and target, as Store::Best defines it. Both stores choose with it.
#pragma once

#include <map>

#include "search/database/store.h"

namespace kiln {

// Of a run that raced its fastest, only what the race measured counts: a record outside of it that is faster
// is the luckiest of many. The fastest of what counts is best; ties go to the smaller id. Not thread
// safe.
class BestOfRuns {
 public:
  // A record that CanBeBest, in the order of their ids. Reads its id, run, flags and samples only.
  void Offer(const RecordRow& record);

  // The id of the best of what was offered; 0 without.
  RowId Best() const;

 private:
  struct Fastest {
    RowId record = 0;
    double seconds = 0;
    bool raced = false;
  };
  std::map<RowId, Fastest> runs_;
};

}  // namespace kiln
