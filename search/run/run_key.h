// The identity of a run and its options, as text for the store.
#pragma once

#include <string>
#include <vector>

#include "search/run/tune.h"

namespace kiln {

// Returns a text that is equal for equivalent runs: the same tasks with the same sketches, target, seed,
// budget, strategy and options that affect the course of a search. The number of threads is not part of it.
std::string RunKey(const std::vector<TuneTask>& tasks, const std::vector<const std::vector<Trace>*>& sketches,
                   const Target& target, const TuneOptions& options);

// Returns the target as JSON.
std::string TargetText(const Target& target);
// Parses the text of TargetText, and takes the fingerprint of the row. Returns kDataLoss if the text is not JSON, or
// names a policy that is not known.
absl::StatusOr<Target> TargetOf(const TargetRow& row);
// Returns the options as JSON, with the argument names of tasks that have them.
std::string OptionsText(const TuneOptions& options, const std::vector<TuneTask>& tasks);
// Returns the argument names of a task from the text of OptionsText, or an empty list.
std::vector<std::string> ArgumentsOf(absl::string_view options, int task);

// Returns the structural choices of a trace: "multi-level-tiling/matmul/write-reuse=1 ...".
std::string SketchText(const Trace& trace);

}  // namespace kiln
