// The rows of a store (search/database/store.h): plain data.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "search/database/record_flags.h"
#include "search/outcome.h"

namespace kiln {

// Ids are positive, unique within their table, given in order of insertion,
// and have no meaning outside their store.
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
  std::string uid{};      // 32 lower-case hex digits, the identity across files; drawn by BeginRun when empty
  std::string command{};  // the key under which the same command finds its unfinished run again
  std::string options{};  // JSON
  uint64_t seed = 0;
  std::string kiln_version{}, llvm_version{}, xgboost_version{};
  int64_t started = 0;  // milliseconds since 1970, UTC
  std::string state{};  // what a resumed run needs
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
  // All samples, each as two numbers: seconds as the clock told them, and how many times as long as
  // undisturbed the reference kernel took beside it (docs/decisions/0013). Empty where a measurer tells
  // nothing of it.
  std::vector<double> taken{};
  std::string status{};      // search/outcome.h; the store treats all but outcome::kOk alike
  std::string error{};       // empty when status is "ok"
  bool lower_bound = false;  // measuring stopped early: it is at least this slow, and never best
  RecordFlags flags{};       // how it was built and timed
  bool verified = false;     // its output was compared with the reference
  std::string
      assumptions{};  // of its schedule about the data (AssumptionsOf in lang/schedule/primitive.h); "" if none
  std::string place{};      // where it was measured, beside the target's fingerprint; "" if that is not said
  std::string facts{"{}"};  // a JSON object, free: what else is known of the measurement
  int64_t created = 0;      // milliseconds since 1970, UTC
  bool operator==(const RecordRow&) const = default;
};

struct RoundRow {
  RowId run = 0;
  int task = 0, round = 0;   // (run, task, round) is unique
  int trials = 0;            // of the task in this run, with this round's
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

// A record with what it refers to.
struct RecordEntry {
  RecordRow record;
  WorkloadRow workload;
  TargetRow target;
  RunRow run;
};

// Everything but the models and the rounds, each table in the order of its ids;
// ids refer to rows of the same contents.
struct StoreContents {
  std::vector<WorkloadRow> workloads;
  std::vector<TargetRow> targets;
  std::vector<RunRow> runs;
  std::vector<RecordRow> records;
  bool operator==(const StoreContents&) const = default;
};

struct MergeResult {
  int added = 0;    // records
  int present = 0;  // records that were there already
};

}  // namespace kiln
