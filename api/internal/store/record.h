// A record of the database as programs again, for what is done with it.
#pragma once

#include <string>

#include "absl/status/statusor.h"
#include "lang/program/program.h"
#include "lang/target/target.h"
#include "search/database/store.h"

namespace kiln::api {

struct Rebuilt {
  RecordEntry entry;
  Program original;          // the workload
  Program reference;         // what the trace's lemmas made of it: what a proof compares with
  Program scheduled;         // after the trace
  std::string assumptions;   // of the trace about the data (AssumptionsOf in lang/schedule/primitive.h)
  Target target;             // the machine that it was measured on
  bool same_program = true;  // it has the hash that was recorded
};

// From the stored text of workload and trace alone. kNotFound: no such database or record; kDataLoss: the
// texts do not parse; kFailedPrecondition: a step does not apply.
absl::StatusOr<Rebuilt> Rebuild(const std::string& database, RowId id);

}  // namespace kiln::api
