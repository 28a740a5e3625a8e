// Settings and results of a Session's operations on records, databases and schedules. Plain data.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "api/event.h"
#include "api/model.h"
#include "api/tuning.h"
#include "trace/enumerate.h"

namespace kiln::api {

// --- Settings and results of listing the sketches of a space
struct SketchSettings {
  SpaceSettings space{};
  std::string task{};           // only this one; empty: all
  std::string target = "host";  // one of TargetNames()
  int threads = 1;              // cores of the target; 0: all
  int limit = 256;              // largest number of sequences of structural choices to try
};

struct TaskSketches {
  TaskInfo task{};
  // The outcome for this task: kAborted if a module of a plugin crashed. A task without a sketch is OK;
  // `sketches.dropped` has the reasons.
  absl::Status status{};
  Enumeration sketches{};
  double support() const;  // sum over the sketches of exp(log_support); partly estimated
};

struct SpaceReport {
  std::string file{}, space{}, target{};
  std::string items{};  // the items of `space`, with named spaces such as cpu spelled out
  int cores = 1;
  std::vector<TaskSketches> tasks{};
  std::vector<LeftOut> left_out{};
  // OK, kAborted for the first task on which a plugin crashed, or else kFailedPrecondition with the tasks without a
  // sketch.
  absl::Status status{};
};

// --- Settings and results of listing, showing, replaying, exporting and checking records
struct BestRecord {  // the fastest record of a workload on a target, for one state of the caches
  int64_t id = 0;
  std::string workload{}, workload_hash{};
  std::string target{}, fingerprint{};  // "znver3, 1 core"; the machine's identity
  bool measured_here = false;
  double seconds = 0, flops = 0;
  double cycles = 0;  // estimated, of a static record, whose seconds are 0
  bool verified = false, proven = false;
  std::string assumptions{};  // of the schedule about the data; empty if none
  int trial = 0;
  std::string flags{}, how{}, trust{};  // as stored; in words; such as "proven and verified"
  bool noisy = false;
};

struct ShowSettings {
  // What is shown: "program", "trace", "plan", "mlir", "llvm" or "asm"; for a GPU "nvvm", "ptx" and "sass" too.
  std::string stage = "program";
  std::string target{};  // target of the code; empty: the one it was measured on, or this machine
  bool passes = false;   // shows the output of every lowering pass instead
};
struct Shown {
  int64_t id = 0;  // of the record; 0 for a task
  std::string workload{}, flags{}, how{}, assumptions{}, stage{}, text{};
};

struct ReplayResult {
  int64_t id = 0;
  std::string workload{};
  bool verified = false;
  double recorded_seconds = 0, seconds = 0, flops = 0;  // both seconds: infinity if nothing was timed
  std::vector<double> samples{};
  std::string flags{}, how{}, noise{};
  bool same_machine = true;
  std::string measured_on{};  // fingerprint
  // The outcome of the replay. kFailedPrecondition: the program did not run, computes something else than the original,
  // or could not be compared with it. kDataLoss: the trace gives another program than the recorded one. kCancelled:
  // interrupted.
  absl::Status status{};
};

struct ExportSettings {
  std::string folder = ".";
  std::string name{};    // name of the function and the files; empty: the workload's
  std::string target{};  // empty: the one that it was tuned on
};
struct ExportResult {
  int64_t id = 0;
  std::string name{};  // of the function and the files
  std::vector<Parameter> parameters{};
  bool verified = false;
  std::string target{}, measured_on{};
  bool measured_here = false;
  std::string proof{};               // "proven" or "too hard"
  std::string assumptions{};         // assumptions of the proof; empty if none
  std::vector<std::string> files{};  // paths, the header first
  std::vector<std::string> notes{};  // notes for the user of the kernel
};

struct CheckResult {
  enum class Verdict { kProven, kRefuted, kUndecided };
  Verdict verdict = Verdict::kUndecided;
  std::string words{};  // "proven", "refuted", "too hard"
  std::string reason{}, workload{};
  std::string assumptions{};  // of the schedule about the data; empty if none
  absl::Status status{};      // kFailedPrecondition: refuted; kUnknown: undecided
};

// --- Settings and results for runs, cost models and benchmarks
struct RunInfo {
  int64_t id = 0;
  std::string command{};  // what the user typed
  std::string options{};  // JSON
  uint64_t seed = 0;
  int64_t started = 0;  // milliseconds since 1970, UTC
  bool finished = false;
  std::vector<Round> rounds{};
};

struct TrainResult {
  std::string model{};  // the file
  // left_out: records that do not parse or replay, or whose target has other features.
  int tasks = 0, records = 0, left_out = 0;
};

struct BenchSettings {
  std::string task{};  // only this one; empty: all
  int rounds = 50;
  double seconds = 60;                      // limit for a task, or for the whole
  bool cold = false;                        // with cold caches
  std::vector<std::string> peer_folders{};  // folders with libraries to time too
  bool whole = false;                       // the whole file as one library, in place of its tasks
  int threads = 1;                          // of the whole
};
struct PeerTimes {
  std::string name{};
  Interval seconds{}, ratio{};  // ratio: its time divided by that of the record's program
};
struct TaskTimes {
  std::string task{};
  double flops = 0;
  int64_t record = 0;  // fastest of this machine, cold if asked; 0: none, the untuned program is timed
  Interval seconds{};
  std::vector<PeerTimes> beside{};
  std::vector<std::pair<std::string, std::string>> left_out{};  // programs that were not timed, and why
  int rounds = 0, threads = 1;
};
// Times of a whole file that was built as one library: with the records of the database, in turns with a library on
// default schedules.
struct WholeTimes {
  std::string name{};
  int tasks = 0, records = 0;          // tasks and foreign operations; those with a record
  Interval seconds{};                  // with records; on default schedules if there are no records
  std::optional<PeerTimes> untuned{};  // on default schedules; not set without records
  int rounds = 0, threads = 1;
  int disturbed = 0;  // samples of both during which another process had a core
};
struct BenchReport {
  std::string file{}, machine{};
  std::vector<TaskTimes> tasks{};
  std::optional<WholeTimes> whole{};
};

// --- Results of a race of two records
struct RecordPlace {
  std::string database{};  // empty: the session's
  int64_t record = 0;      // 0: the only BestRecord of this machine; none is kNotFound, several are a Mistake
};
struct RacedProgram {
  std::string database{};
  int64_t record = 0;
  Interval seconds{};
  double gflops = 0;
  std::string flags{}, how{};  // how it was timed: as stored, and in words
  std::string noise{};         // why its time is not reliable; empty if it is quiet
};
struct RaceReport {
  std::string workload{};
  RacedProgram one{}, other{};
  Interval ratio{};  // how many times as long `one` takes as `other`
  bool noisy() const { return !one.noise.empty() || !other.noise.empty(); }
};

}  // namespace kiln::api
