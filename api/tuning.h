// Settings and results of a search. Plain data; the defaults are those of `kiln tune`, docs/cli.md says what
// each setting does.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "api/event.h"
#include "api/model.h"
#include "modules/registry.h"
#include "trace/trace.h"

namespace kiln::api {

struct SpaceSettings {
  std::string space{};                 // such as "each-block(auto-inline) | cpu"; empty: the target's
  std::vector<std::string> plugins{};  // FILE.cc or FILE.so: their code runs in child processes alone
  // A space of the caller's, instead; `space` is its name, which stands for it where runs are found again.
  Space function{};
};

struct TuneSettings {
  int trials = 1000;   // candidates to measure, for all tasks together
  double seconds = 0;  // after which no new round begins; 0: no limit
  uint64_t seed = 0;
  int threads = 1;  // cores that programs run on; 0: all
  bool contract = true, cold = false;
  SpaceSettings space{};

  std::string strategy = "annealed", scheduler = "gradient";
  std::string replay{};  // a file of traces or a database: what the strategy "replay" measures
  std::string start{};   // the same: measured first
  double until_roofline = 0, least_gain = 0;  // percent; 0: never

  std::string cost_model = "trees", features = "ansor";
  std::string transfer{};  // a file that Session::Train wrote; empty: none

  std::string output{};  // folder to which the best of each task is exported; empty: none
};

// A library of this machine that computes the same.
struct LibraryRatio {
  std::string name{};
  double seconds = 0;
  double ratio = 0;  // how many times as long as the program, the median of pairs
};

// What is left out where there is no record: all after `reason`.
struct TaskResult {
  std::string name{};
  int occurrences = 1;
  int trials = 0;
  std::map<std::string, int> failures{};  // by class
  std::string ended{};   // before the budget was spent: "exhausted", "roofline", "gain", "failed"; else empty
  int64_t record = 0;    // of the database; 0: none
  std::string reason{};  // why there is none

  double seconds = 0, gflops = 0;
  std::optional<double> untuned_seconds{};  // of the program as it came
  bool verified = false, proven = false;
  std::string assumptions{};  // of the schedule about the data; empty: none
  std::string trust{};        // all three in words
  Roofline roofline{};        // zeros: not known
  std::string share{};        // of the roofline, in words; empty: not known
  std::vector<LibraryRatio> libraries{};
  Trace trace{};               // with its decisions
  Program program{};           // scheduled
  std::string flags{}, how{};  // how it was timed: as the record has it, and in words
  bool noisy = false;
  std::string noise{};  // why the time is not to be relied on; empty if it is
  int quiet_samples = 0, samples = 0;
  double searched_seconds = 0;  // of the same program in the search; 0: not known
  std::string symbol{};         // of the function that an export makes, and its parameters
  std::vector<Parameter> parameters{};
  std::vector<std::string> files{};  // that were exported
};

struct TuneReport {
  std::string file{}, database{};
  bool interrupted = false;
  int64_t run = 0;                  // of the database; 0: it was interrupted before it began
  std::vector<TaskResult> tasks{};  // in the order of Session::tasks()
  std::vector<Round> rounds{};      // of the whole run, earlier sittings included
  // OK; kFailedPrecondition: tasks without a record, with the reasons; kCancelled: interrupted.
  absl::Status status{};
  bool partial = false;  // some tasks have a record, others have none

  // For ToJson alone; whoever prints fills them in.
  std::string nothing{};  // why there is nothing to do
  std::string resume{};   // the command that goes on
};

}  // namespace kiln::api
