// Settings and results of a search. Plain data. The defaults are those of `kiln tune`;
// docs/reference/cli.md explains each setting.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "api/building.h"
#include "api/event.h"
#include "api/model.h"
#include "api/running.h"
#include "modules/registry.h"
#include "trace/trace.h"

namespace kiln::api {

struct SpaceSettings {
  std::string space{};                 // such as "each-block(auto-inline) | cpu"; empty: the target's
  std::vector<std::string> plugins{};  // FILE.cc or FILE.so; their code runs only in child processes
  // A space of the caller, used instead of a space string. `space` is then its name, which identifies it when a run is
  // resumed.
  Space function{};
};

struct TuneSettings {
  int trials =
      1000;  // candidates to measure, for all tasks together; 0: none, which leaves default schedules
  double seconds = 0;  // no new round begins after this; 0: no limit
  uint64_t seed = 0;
  // The machine to tune for: "host", or a GPU of TargetNames(). If this machine has a GPU that runs kernels for it,
  // they are measured there. Otherwise, or if `is_static`, kernels are compiled, estimated and emulated here, and times
  // are in cycles (TaskResult::cycles).
  std::string target = "host";
  bool is_static = false;
  int threads = 1;  // cores for the measured programs, or for the search and its compilers for a GPU; 0: all
  bool contract = true, cold = false;
  // Whether all programs are timed as within a model: inputs are in the caches, constants are not.
  bool in_model = false;
  SpaceSettings space{};

  // Whether a search of a file with several calls for this machine may run the whole model: before the search, to
  // choose its layout; now and then, so that the scheduler weighs a task by its time within the whole, and that tasks
  // which are slow there are timed as within a model; and after it, to choose the records of the library in `output`.
  bool in_place = true;

  std::string strategy = "annealed", scheduler = "gradient";
  std::string replay{};  // a file of traces or a database: what the strategy "replay" measures
  std::string start{};   // a file or database of traces to measure first
  // A task ends once its best time is at most `until_roofline` percent above its roofline, or fell by less than
  // `least_gain` percent in its last quarter of trials (or its last 64, if these are more). 0: never.
  double until_roofline = 0, least_gain = 0;

  std::string cost_model = "trees", features = "ansor";
  std::string transfer{};  // a file that Session::Train wrote; empty: none

  // Folder to which the best of each task is exported, and one library of the whole file; empty: none.
  std::string output{};
};

// A library of this machine that computes the same as the task, and its time beside the program's.
struct LibraryRatio {
  std::string name{};
  double seconds = 0;
  double ratio = 0;  // its time divided by that of the program, as the median of pairs
};

// The result of a task. If there is no record, the fields after `reason` are not set, except `symbol` and `parameters`.
struct TaskResult {
  std::string name{};
  int occurrences = 1;
  int trials = 0;
  std::map<std::string, int> failures{};  // number of failures by class
  // Why the search of this task ended before its budget was spent: "exhausted", "roofline", "gain" or "failed"; else
  // empty.
  std::string ended{};
  double in_place_seconds = 0;  // of one execution, when the whole last ran in the search; 0: it never did
  double minute_gain = 0;       // seconds of the whole that this task is expected to gain in a further minute
  int64_t record = 0;           // id in the database; 0 if there is none
  std::string reason{};         // why there is no record

  double seconds = 0, gflops = 0;
  double cycles = 0;                        // estimated, of a static result, whose seconds and gflops are 0
  std::optional<double> untuned_seconds{};  // of the untuned program
  bool verified = false, proven = false;
  std::string assumptions{};  // of the schedule about the data; empty if none
  std::string trust{};        // all three in words
  Roofline roofline{};        // zeros if unknown
  std::string share{};        // share of the roofline in words; empty if unknown
  std::vector<LibraryRatio> libraries{};
  Trace trace{};               // with its decisions
  Program program{};           // scheduled
  std::string flags{}, how{};  // how it was timed: as stored, and in words
  bool noisy = false;
  std::string noise{};  // why the time is not reliable; empty if it is reliable
  int quiet_samples = 0, samples = 0;
  double searched_seconds = 0;  // of the same program in the search; 0 if unknown
  std::string symbol{};         // the exported function and its parameters
  std::vector<Parameter> parameters{};
  std::vector<std::string> files{};  // exported files
};

// A race of whole models with different schedules of their tasks. The fastest one is built if it is clearly faster than
// the whole with the records that are fastest alone. Otherwise that whole is built.
struct RacedWholes {
  int wholes = 0;
  Interval seconds{};  // of the one that is built
  Interval ratio{};    // how many times as long the whole takes with the records that are fastest alone
};

// A race of the whole model before the search: channels as in the file, and channels last (policy "channels-last").
struct RacedLayouts {
  bool channels_last = false;  // whether the search took that layout
  Interval ratio{};            // how many times as long the model takes with channels last
};

struct TuneReport {
  std::string file{}, database{}, target{};
  std::string gpu{};  // fingerprint of the GPU that measured; empty: none did
  bool interrupted = false;
  int64_t run = 0;  // id in the database; 0: interrupted before the run began
  // Warnings: one line for each useless module of the given space or of a plugin, with the reason, and one if `output`
  // is set but no library can be made for the target.
  std::vector<std::string> warnings{};
  std::vector<TaskResult> tasks{};            // in the order that Session::tasks() has after the search
  std::vector<Round> rounds{};                // of the whole run, including earlier sessions
  std::optional<BuildReport> whole{};         // of a file with several calls, if TuneSettings::output is set
  std::optional<RunReport> whole_run{};       // of that library, with the time of each call
  std::optional<RacedWholes> raced_wholes{};  // if whole models raced
  // Set if this search chose the layout of the model. A search for this machine in the default space, with `in_place`,
  // does so once for each model, unless the budget is small, the user names a layout, or there is nothing to choose.
  std::optional<RacedLayouts> raced_layouts{};
  // Seconds of the whole model that a further minute of search is expected to gain, if past gains go on. nullopt if too
  // few rounds have run to tell, if nothing is expected, or if the file has only one call.
  std::optional<double> minute_gain{};
  // The outcome: OK; kCancelled if interrupted; kFailedPrecondition with the reasons if tasks have no record and there
  // is no `whole`.
  absl::Status status{};
  bool partial = false;  // some tasks have a record, others do not

  // Fields for ToJson only. The caller that prints the report sets them.
  std::string nothing{};  // why there is nothing to do
  std::string resume{};   // the command that continues the run
};

}  // namespace kiln::api
