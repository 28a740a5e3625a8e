// Writes the identity of a run, its target and its options as text for the store, and parses the target and the
// options.
#pragma once

#include <string>
#include <vector>

#include "search/run/tune.h"

namespace kiln {

// Returns a text that is equal for equivalent runs: the same command, tasks with the same sketches, target, seed,
// budget, strategy and options that affect the course of a search. The number of threads is not part of it.
std::string RunKey(const std::vector<TuneTask>& tasks, const std::vector<const std::vector<Trace>*>& sketches,
                   const Target& target, const TuneOptions& options);

// Returns the target, without its fingerprint, as JSON.
std::string TargetText(const Target& target);
// Returns the target of a row of the store: parses its text, which TargetText wrote, and takes its fingerprint. A field
// that the text lacks keeps its default, and an unknown GPU counts as none. Returns kDataLoss if the text is not a JSON
// object, or names an unknown policy.
absl::StatusOr<Target> TargetOf(const TargetRow& row);
// Returns as JSON the options of a run that RunKey contains, without seed and command. If some task has argument names,
// adds those of all tasks.
std::string OptionsText(const TuneOptions& options, const std::vector<TuneTask>& tasks);
// Returns the argument names of the task with this index from the JSON of OptionsText, or an empty list if it has none.
std::vector<std::string> ArgumentsOf(absl::string_view options, int task);

// Returns the structural choices of a trace: "multi-level-tiling/matmul/write-reuse=1 ...".
std::string SketchText(const Trace& trace);

}  // namespace kiln
