// The events that a search reports while it runs, in this order:
//
//   Started                once, when the workers run
//   Round                  once for each recorded round
//   TaskEnded              once for each task, at the end
//   Ended                  once, last
//
// If the search fails, or ends before its run began, the events that are left, Ended among them, do not come.
//
// The terminal's progress, `kiln tune --events FILE` and the rounds of `--json` print these structs. In JSON
// (api/json.h), each event is an object with its kind under "event".
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "api/model.h"

namespace kiln::api {

struct Started {
  std::string file{}, database{}, space{};
  std::string cpu{};            // this machine's CPU, or what ptxas calls the GPU
  std::string target = "host";  // or the name of a GPU
  std::string gpu{};            // fingerprint of this machine's GPU, if it measures
  std::string why_static{};     // why results are static: estimated, not measured; empty: they are measured
  int cores = 1;                // number of cores that the measured programs use
  int trials = 0;               // the budget of trials
  double seconds = 0;
  std::vector<std::string> tasks{};  // names
  std::vector<LeftOut> left_out{};
  std::vector<std::string> warnings{};  // TuneReport::warnings
};

// The report on one round of a search: a batch of programs of one task that were proposed and measured.
struct Round {
  struct Chains {
    int64_t proposed = 0, valid = 0, duplicates = 0, accepted = 0;
    double temperature = 0, effective_sample_size = 0;
  };
  // The seconds that the round spent on each activity, except `store`, which is the time of storing the previous round.
  struct Seconds {
    double propose = 0, features = 0, predict = 0, build = 0, run = 0, train = 0, store = 0;
  };

  int index = 0;  // index of the task
  std::string task{};
  int round = 0;
  int trials = 0;                         // of the task in this run
  int batch = 0, failed = 0;              // programs measured in this round, and failures among them
  std::optional<double> best_seconds{};   // of the task so far
  std::optional<double> best_cycles{};    // estimated; set by a static search in place of best_seconds
  std::optional<double> rank_accuracy{};  // of the model on this batch, before it learned from it
  int quiet = 0, samples = 0;             // undisturbed samples and all samples of this round; 0 if unknown
  Chains chains{};
  Seconds seconds{};

  // The state of the whole search after this round. Not set in a round that was read from a database.
  struct Now {
    int trials = 0;                         // trials of all tasks, in this run
    double gflops = 0;                      // of the best program; 0 if unknown
    double elapsed = 0;                     // seconds of the run, including earlier sessions
    std::map<std::string, int> failures{};  // number of failures by class, of the task in this run
  };
  std::optional<Now> now{};

  bool MostlyQuiet() const { return 2 * quiet >= samples; }
};

struct TaskEnded {
  std::string task{};
  int trials = 0;
  int64_t record = 0;    // id of the best record; 0 if there is none
  double seconds = 0;    // of the best record; 0 if it is static
  double cycles = 0;     // of the best record, if it is static
  std::string reason{};  // why there is no record
};

struct Ended {
  int64_t run = 0;
  bool interrupted = false;
};

using Event = std::variant<Started, Round, TaskEnded, Ended>;

}  // namespace kiln::api
