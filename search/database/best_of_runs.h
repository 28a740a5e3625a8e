// Chooses the best record of a workload on a target, as Store::Best defines it. Both implementations of Store use it.
#pragma once

#include <map>

#include "search/database/store.h"

namespace kiln {

// Chooses the best of the records that are offered. If a run raced its fastest programs, only the race's records of
// that run count: a faster record outside the race is just the luckiest of many. Of the records that count, in all
// runs, the fastest is best; ties go to the smaller id. Not thread safe.
class BestOfRuns {
 public:
  // Adds a record to those from which Best chooses. The record must satisfy CanBeBest, and records must come in the
  // order of their ids. Reads only id, run, flags and samples.
  void Offer(const RecordRow& record);

  // Returns the id of the best record offered; 0 if there was none.
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
