// Runs the baseline's searches of imported operators on the simulated machine.
#pragma once

#include <string>
#include <vector>

#include "search/database/store.h"
#include "search/run/tune.h"

namespace kiln::baseline {

// Returns the tasks of these files of tests/inputs/ops, each of which has one task.
std::vector<TuneTask> TasksNamed(absl::Span<const char* const> names);

// Returns options for a search with this number of trials, few short chains, and a stopped clock.
TuneOptions SmallSearch(int trials);

// Searches the tasks in the default space of CPUs, on the simulated machine. Records go to `store`.
std::vector<TuneResult> Search(const std::vector<TuneTask>& tasks, const TuneOptions& options, Store& store);

// Returns a record as the line "TRIAL TRACE-HASH PROGRAM-HASH SECONDS STATUS".
std::string LineOf(const RecordRow& record);
// Returns the text of a trace with the version and the names of primitives, choices and modules that Kiln 0.1 printed.
// LineOf names a trace by the hash of this text.
std::string FirstVersion(absl::string_view trace);

}  // namespace kiln::baseline
