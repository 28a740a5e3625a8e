// Chooses the layout of a model's temporaries by measuring: that of the file, or the one with channels last (policy
// "channels-last"). The database keeps the choice for each model and machine.
#pragma once

#include <optional>

#include "absl/status/statusor.h"
#include "api/internal/input.h"
#include "api/internal/stop.h"
#include "api/session.h"

namespace kiln::api {

// Changes `input` to channels last, and adds a note, if an earlier search chose that for this model on this machine and
// the user names no layout. Drops errors of the database: the operation that follows reports them.
void TakeChosenLayout(const SessionOptions& options, Input* input);

// True if a search with these settings should choose a layout first: it is for this machine and in the default space,
// weighs tasks by their time within the model (in_place), and has at least 10 trials for each task and no time limit
// below 60 seconds.
bool ShouldRaceLayouts(const TuneSettings& settings, size_t tasks);

// Runs the whole model in both layouts, in turns. A task with a record has the schedule of the record, other tasks have
// default schedules. Saves the choice: channels last if the model is clearly faster with it, and then changes `input`.
// Returns nullopt, and does not run the model, if the user named a layout, if the layouts do not differ, or if a choice
// was saved before. kCancelled if interrupted; other errors: those of InTurns and the store.
absl::StatusOr<std::optional<RacedLayouts>> RaceLayouts(const SessionOptions& options, int threads,
                                                        Stop& stop, Input* input);

}  // namespace kiln::api
