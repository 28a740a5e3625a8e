// The rows of a store (search/database/store.h) as plain data: workloads, targets, runs, records, rounds, models.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "search/database/record_flags.h"
#include "search/outcome.h"

namespace kiln {

// Ids are positive and unique within their table. They follow the order of insertion and have no meaning
// outside their store.
using RowId = int64_t;

struct WorkloadRow {
  RowId id = 0;
  std::string hash{};     // 32 lower-case hex digits
  std::string name{};     // for people; not part of the identity
  std::string program{};  // compared in full when hashes agree
  bool operator==(const WorkloadRow&) const = default;
};

struct TargetRow {
  RowId id = 0;
  std::string text{};
  std::string fingerprint{};
  bool operator==(const TargetRow&) const = default;
};

struct RunRow {
  RowId id = 0;
  std::string uid{};      // 32 lower-case hex digits, the identity across files; BeginRun draws it if empty
  std::string command{};  // the key by which the same command finds its unfinished run
  std::string options{};  // JSON
  uint64_t seed = 0;
  std::string kiln_version{}, llvm_version{}, xgboost_version{};
  int64_t started = 0;  // milliseconds since 1970, UTC
  std::string state{};  // what a resumed run needs, as bytes (search/run/run_state.h)
  bool finished = false;
  bool operator==(const RunRow&) const = default;
};

struct RecordRow {
  RowId id = 0, workload = 0, target = 0, run = 0;
  int task = 0, round = 0;
  int trial = 0;               // (run, task, trial) is unique
  std::string sketch{};        // the structural choices
  std::string trace{};         // text form, with the decisions
  std::string program_hash{};  // of the scheduled program: 32 lower-case hex digits
  std::vector<double>
      samples;  // seconds per execution, finite and not negative: those that count, in the order taken
  // All samples of a record's timing, each as two numbers side by side: the seconds by the clock, and the slowdown of
  // the reference kernel (its time divided by its undisturbed time; docs/decisions/0013), the larger one of before and
  // after the sample. Empty if the measurer does not report it.
  std::vector<double> raw_samples{};
  std::string status{};      // see search/outcome.h; the store distinguishes only outcome::kOk from the rest
  std::string error{};       // empty when status is "ok"
  bool lower_bound = false;  // stopped early: the program is at least this slow, and never best
  RecordFlags flags{};       // how the program was built and timed
  bool verified = false;     // the output was compared with the reference
  // What the record's schedule assumes about the data (AssumptionsOf in lang/schedule/primitive.h); "" if nothing.
  std::string assumptions{};
  std::string place{};      // where it was measured, in addition to the target's fingerprint; "" if unknown
  std::string facts{"{}"};  // a JSON object with any other facts about the measurement
  int64_t created = 0;      // milliseconds since 1970, UTC
  bool operator==(const RecordRow&) const = default;
};

struct RoundRow {
  RowId run = 0;
  int task = 0, round = 0;   // (run, task, round) is unique
  int trials = 0;            // trials of the task in this run, including this round's
  std::string statistics{};  // JSON (search/run/round_log.h)
  bool operator==(const RoundRow&) const = default;
};

struct ModelRow {
  RowId id = 0;
  std::string key{};  // a workload's hash, or a name such as "global"
  RowId target = 0;
  std::string bytes{};
  std::string note{};
  bool operator==(const ModelRow&) const = default;
};

// A record with its workload, target and run.
struct RecordEntry {
  RecordRow record;
  WorkloadRow workload;
  TargetRow target;
  RunRow run;
};

// The contents of a store without its models and rounds. Each table is in the order of its ids. Ids refer to rows of
// the same contents.
struct StoreContents {
  std::vector<WorkloadRow> workloads;
  std::vector<TargetRow> targets;
  std::vector<RunRow> runs;
  std::vector<RecordRow> records;
  bool operator==(const StoreContents&) const = default;
};

struct MergeResult {
  int added = 0;    // records
  int present = 0;  // records that were already there
};

}  // namespace kiln
