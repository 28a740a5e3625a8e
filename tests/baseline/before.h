// The interrupted search of tests/inputs/before: whoever goes on with it gives these tasks and options.
#pragma once

#include <string>
#include <vector>

#include "search/database/rows.h"
#include "search/run/tune.h"

namespace kiln::baseline {

std::vector<TuneTask> InterruptedTasks();
TuneOptions InterruptedSearch();

// A line for each: its task, then as LineOf (tests/baseline/simulated.h).
std::string LinesOf(absl::Span<const RecordRow> records);

}  // namespace kiln::baseline
