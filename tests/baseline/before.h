// The tasks and options of the interrupted search in tests/inputs/before, for resuming it.
#pragma once

#include <string>
#include <vector>

#include "search/database/rows.h"
#include "search/run/tune.h"

namespace kiln::baseline {

std::vector<TuneTask> InterruptedTasks();
TuneOptions InterruptedSearch();

// Returns one line for each record: its task, then the text of LineOf (tests/baseline/simulated.h).
std::string LinesOf(absl::Span<const RecordRow> records);

}  // namespace kiln::baseline
