// Searches of imported operators on the simulated machine, as the baseline makes them.
#pragma once

#include <string>
#include <vector>

#include "search/database/store.h"
#include "search/run/tune.h"

namespace kiln::baseline {

// Of files of tests/inputs/ops that have one task.
std::vector<TuneTask> TasksNamed(absl::Span<const char* const> names);

// So many trials of few and short chains, with a clock that stands still.
TuneOptions SmallSearch(int trials);

// In the default space of CPUs.
std::vector<TuneResult> Search(const std::vector<TuneTask>& tasks, const TuneOptions& options, Store& store);

// "TRIAL TRACE-HASH PROGRAM-HASH SECONDS STATUS"
std::string LineOf(const RecordRow& record);

}  // namespace kiln::baseline
