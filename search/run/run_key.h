// The identity of a run, and its options, as texts for the store.
#pragma once

#include <string>
#include <vector>

#include "search/run/tune.h"

namespace kiln {

// Equal for runs that would do the same: the same tasks with the same sketches, target, seed, budget,
// strategy and options that the course of a search depends on. Threads are none of them.
std::string RunKey(const std::vector<TuneTask>& tasks, const std::vector<const std::vector<Trace>*>& sketches,
                   const Target& target, const TuneOptions& options);

// As JSON.
std::string TargetText(const Target& target);
// The reverse of TargetText. kDataLoss: the text is no JSON.
absl::StatusOr<Target> TargetOf(const TargetRow& row);
// With the names of arguments, where tasks have some.
std::string OptionsText(const TuneOptions& options, const std::vector<TuneTask>& tasks);
// Those of a task of a run, by its options; empty where they are not told.
std::vector<std::string> ArgumentsOf(absl::string_view options, int task);

// "multi-level-tiling/matmul/write-reuse=1 ...": the structural choices of a trace.
std::string SketchText(const Trace& trace);

}  // namespace kiln
