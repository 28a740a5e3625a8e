// What a search reports while it goes on: one Event after another, in this order.
//
//   Started                once, when the workers run
//   Round                  one for each round that is recorded
//   TaskEnded              one for each task, at the end
//   Ended                  once, last
//
// The terminal's progress, `kiln tune --events FILE` and the rounds of `--json` print these structs. As JSON
// (api/json.h) each is an object with its kind under "event".
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
  std::string cpu{};  // the machine's
  int cores = 1;      // that programs run on
  int trials = 0;     // the budget
  double seconds = 0;
  std::vector<std::string> tasks{};  // names
  std::vector<LeftOut> left_out{};
};

// One round of one task.
struct Round {
  struct Chains {
    int64_t proposed = 0, valid = 0, duplicates = 0, accepted = 0;
    double temperature = 0, effective_sample_size = 0;
  };
  // What the time went to. `store` is that of the round before.
  struct Seconds {
    double propose = 0, features = 0, predict = 0, build = 0, run = 0, train = 0, store = 0;
  };

  int index = 0;  // of the task
  std::string task{};
  int round = 0;
  int trials = 0;                         // of the task in this run
  int batch = 0, failed = 0;              // programs measured in this round, and how many of these failed
  std::optional<double> best_seconds{};   // of the task so far
  std::optional<double> rank_accuracy{};  // of the model on this batch, before it learned from it
  int quiet = 0, samples = 0;  // samples of this round that nothing disturbed, and all; 0: not known
  Chains chains{};
  Seconds seconds{};

  // While the search goes on; nothing where a database tells of it.
  struct Now {
    int trials = 0;                         // of all tasks, in this run
    double gflops = 0;                      // of the best; 0: not known
    double elapsed = 0;                     // seconds of the run, earlier sittings included
    std::map<std::string, int> failures{};  // of the task in this run, by class
  };
  std::optional<Now> now{};

  bool MostlyQuiet() const { return 2 * quiet >= samples; }
};

struct TaskEnded {
  std::string task{};
  int trials = 0;
  int64_t record = 0;    // 0: none
  double seconds = 0;    // of the best
  std::string reason{};  // why there is no record
};

struct Ended {
  int64_t run = 0;
  bool interrupted = false;
};

using Event = std::variant<Started, Round, TaskEnded, Ended>;

}  // namespace kiln::api
