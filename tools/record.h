// A record of the database as programs again, for show, replay and export.
#pragma once

#include <string>

#include "CLI/CLI.hpp"
#include "absl/status/statusor.h"
#include "lang/program/program.h"
#include "lang/target/target.h"
#include "search/database/store.h"

namespace kiln::tools {

struct RecordOption {
  std::string database = "kiln.db";
  RowId id = 0;
};
void AddRecordOption(CLI::App& command, RecordOption* option);

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
absl::StatusOr<Rebuilt> Rebuild(const RecordOption& option);

}  // namespace kiln::tools
