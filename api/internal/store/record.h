// Rebuilds the programs of a record in the database, and finds the fastest record of a task.
#pragma once

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "lang/program/program.h"
#include "lang/target/target.h"
#include "search/database/store.h"

namespace kiln::api {

struct Rebuilt {
  RecordEntry entry;
  Program original;   // the workload
  Program reference;  // the original after the trace's lemmas; proofs compare with it
  Program scheduled;  // the original after all steps of the trace
  // What the trace assumes about the data, in words (AssumptionsOf in lang/schedule/primitive.h); empty if nothing.
  std::string assumptions;
  Target target;             // the machine that measured it
  bool same_program = true;  // the rebuilt program has the recorded hash
};

// Rebuilds a record from the stored texts of its workload and trace. Returns kNotFound if there is no such
// database or record, kDataLoss if the texts do not parse, and kFailedPrecondition if a step does not apply.
absl::StatusOr<Rebuilt> Rebuild(const std::string& database, RowId id);

// Returns the fastest of the records that are of this task, were measured by the machine with this fingerprint under
// these policies, and were timed with this state of the caches. Returns null if there is none.
const RecordEntry* BestOf(const std::vector<RecordEntry>& records, const Program& task,
                          const std::string& fingerprint, const Policies& policies, Caches caches);

}  // namespace kiln::api
