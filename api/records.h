// Settings and answers of what a Session does with records, databases and schedules. Plain data.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "api/event.h"
#include "api/model.h"
#include "api/tuning.h"
#include "trace/enumerate.h"

namespace kiln::api {

// --- Spaces
struct SketchSettings {
  SpaceSettings space{};
  std::string task{};           // only this one; empty: all
  std::string target = "host";  // one of TargetNames()
  int threads = 1;              // cores of the target; 0: all
  int limit = 256;              // sequences of structural choices to look at
};

struct TaskSketches {
  TaskInfo task{};
  // kAborted: a module of a plugin crashed. No sketch is not an error: `sketches.dropped` has the reasons.
  absl::Status status{};
  Enumeration sketches{};
  double support() const;  // of all sketches
};

struct SpaceReport {
  std::string file{}, space{}, target{};
  int cores = 1;
  std::vector<TaskSketches> tasks{};
  std::vector<LeftOut> left_out{};
  absl::Status status{};  // names the tasks without a sketch, and plugins that crashed
};

// --- Records
struct BestRecord {  // the fastest of a workload on a target
  int64_t id = 0;
  std::string workload{}, workload_hash{};
  std::string target{}, fingerprint{};  // "znver3, 1 core"; the machine's identity
  bool measured_here = false;
  double seconds = 0, flops = 0;
  bool verified = false, proven = false;
  std::string assumptions{};  // of the schedule about the data; empty: none
  int trial = 0;
  std::string flags{}, how{}, trust{};  // as stored; in words; "proven and verified"
  bool noisy = false;
};

struct ShowSettings {
  std::string stage = "program";  // "program", "trace", "mlir", "llvm" or "asm"
  std::string target{};           // that code is made for; empty: the one it was measured on
  bool passes = false;            // instead: what every pass of the lowering makes
};
struct Shown {
  int64_t id = 0;
  std::string workload{}, flags{}, how{}, assumptions{}, stage{}, text{};
};

struct ReplayResult {
  int64_t id = 0;
  std::string workload{};
  bool verified = false;
  double recorded_seconds = 0, seconds = 0, flops = 0;  // infinity: nothing was timed
  std::vector<double> samples{};
  std::string flags{}, how{}, noise{};
  bool same_machine = true;
  std::string measured_on{};  // fingerprint
  // kFailedPrecondition: it did not run, or is not what the original computes; kDataLoss: the trace gives
  // another program than it did; kCancelled: interrupted.
  absl::Status status{};
};

struct ExportSettings {
  std::string folder = ".";
  std::string name{};    // of the function and the files; empty: the workload's
  std::string target{};  // empty: the one it was tuned on
};
struct ExportResult {
  int64_t id = 0;
  std::string name{};  // of the function and the files
  std::vector<Parameter> parameters{};
  bool verified = false;
  std::string target{}, measured_on{};
  bool measured_here = false;
  std::string proof{};               // "proven" or "too hard"
  std::string assumptions{};         // under which it is; empty: none
  std::vector<std::string> files{};  // paths, the header first
  std::vector<std::string> notes{};  // what its user should know
};

struct CheckResult {
  enum class Verdict { kProven, kRefuted, kUndecided };
  Verdict verdict = Verdict::kUndecided;
  std::string words{};  // "proven", "refuted", "too hard"
  std::string reason{}, workload{};
  std::string assumptions{};  // of the schedule about the data; empty: none
  absl::Status status{};      // kFailedPrecondition: refuted; kUnknown: undecided
};

// --- Runs, models, the machine
struct RunInfo {
  int64_t id = 0;
  std::string command{};  // what was typed
  std::string options{};  // JSON
  uint64_t seed = 0;
  int64_t started = 0;  // milliseconds since 1970, UTC
  bool finished = false;
  std::vector<Round> rounds{};
};

struct TrainResult {
  std::string model{};  // the file
  int tasks = 0, records = 0, left_out = 0;
};

struct BenchSettings {
  std::string task{};  // only this one; empty: all
  int rounds = 50;
  double seconds = 60;                      // for a task
  bool cold = false;                        // with cold caches
  std::vector<std::string> peer_folders{};  // with libraries to time too
};
// The median, and where 95 of 100 medians of samples drawn from the samples lie.
struct Interval {
  double median = 0, low = 0, high = 0;
};
struct PeerTimes {
  std::string name{};
  Interval seconds{}, ratio{};  // ratio: how many times as long as the program of the record
};
struct TaskTimes {
  std::string task{};
  double flops = 0;
  int64_t record = 0;  // the fastest of this machine; 0: none, and the program is timed as it came
  Interval seconds{};
  std::vector<PeerTimes> beside{};
  std::vector<std::pair<std::string, std::string>> left_out{};  // what is not among them, and why
  int rounds = 0, threads = 1;
};
struct BenchReport {
  std::string file{}, machine{};
  std::vector<TaskTimes> tasks{};
};

}  // namespace kiln::api
