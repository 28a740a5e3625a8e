// The database of the search: which programs were tuned for which machine, in which runs, and with what
// result.
//
//   workload  a program as text (the untransformed reference) and its 128-bit hash
//   target    a machine as text and its fingerprint; another fingerprint is another target, so a record of
//             one CPU is never used for another
//   run       one tuning command: options, seed, versions, and the state from which a killed run continues
//   record    one measured candidate of a run: sketch, trace, samples, outcome
//   round     the log of one round of a run, for people
//   model     the bytes of a trained cost model
//
// The store holds text, numbers and bytes. It does not parse programs, traces, options or states. Text may
// hold any bytes. The store reads no clock: the caller passes times.
//
// Implementations: sqlite_store.h (one file; the default) and memory_store.h (for tests). Write another one
// to keep records on a server that many machines share, and run the contract tests of
// tests/search/store_test.cc on it.
//
// Durability: when AppendRecords returns OK, its records and the run's state are on disk. They are written
// together: a process killed at any time leaves the whole batch or nothing of it.
//
// Threads: one thread at a time may use a store object, and a forked child must not use it. To share a file,
// open one object per thread or process.
//
// Errors: kInvalidArgument = a malformed row or path, or a file that is no database of Kiln, kNotFound = no such id or
// directory, kAlreadyExists = the trial or run exists already, kFailedPrecondition = the run is finished, a newer Kiln
// made the file, or the file cannot use write-ahead logging, kUnavailable = locked for too long or an I/O failure,
// kResourceExhausted = no space or memory left, kPermissionDenied, kDataLoss = the file is damaged, kInternal = any
// other error of SQLite. The message names the path, what was found and what to do. A failed operation changes nothing.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "search/database/rows.h"

namespace kiln {

// Returns the latency of a record in seconds: the median of its samples, or infinity without samples.
double Seconds(const RecordRow& record);

// Returns true if the record can be the best of its workload: it ran to the end, is not a lower bound, and has samples.
bool CanBeBest(const RecordRow& record);

// Every implementation of Store calls these checks before it stores rows: a hash has 32 lower-case hex digits, and the
// fields of a record are consistent. kInvalidArgument names the field.
absl::Status CheckHash(absl::string_view field, absl::string_view hash);
absl::Status CheckRecord(const RecordRow& record);
// SameMeasurement returns true if an incoming record (with ids of this store) is the measurement stored for the same
// run, task and trial. It does not compare the verdict (status, error, verified), which may have changed since, nor
// raw_samples, assumptions, place and facts. DifferentMeasurement returns the error for a stored record that differs.
bool SameMeasurement(const RecordRow& a, const RecordRow& b);
absl::Status DifferentMeasurement(const RecordRow& stored, absl::string_view run_uid);
// Returns 32 random hex digits from the system's entropy.
std::string RandomUid();

class Store {
 public:
  virtual ~Store() = default;

  // Returns the id of the workload or target with this content, and creates the row if it is missing. Equal hashes with
  // different programs get different rows.
  virtual absl::StatusOr<RowId> PutWorkload(absl::string_view hash, absl::string_view name,
                                            absl::string_view program) = 0;
  virtual absl::StatusOr<RowId> PutTarget(absl::string_view text, absl::string_view fingerprint) = 0;

  // Stores a new run as unfinished and returns its id. Ignores the fields `id` and `finished` of the row.
  virtual absl::StatusOr<RowId> BeginRun(const RunRow& run) = 0;
  // Returns the newest unfinished run of this command; nullopt if there is none.
  virtual absl::StatusOr<std::optional<RunRow>> FindUnfinishedRun(absl::string_view command) = 0;
  virtual absl::Status UpdateRunState(RowId run, absl::string_view state) = 0;
  virtual absl::Status FinishRun(RowId run) = 0;

  // Appends the records of a batch and its rounds, and sets the run's state, as one transaction. Returns the new ids in
  // order. Ignores the id and run fields of the rows. A round that exists already stays. Returns kAlreadyExists if the
  // run already has one of these (task, trial) pairs: if two processes resume the same run, the slower one sees this.
  // Returns kFailedPrecondition if the run is finished.
  virtual absl::StatusOr<std::vector<RowId>> AppendRecords(RowId run, absl::Span<const RecordRow> records,
                                                           absl::string_view state,
                                                           absl::Span<const RoundRow> rounds = {}) = 0;
  // Runs returns all runs in the order of their ids. Rounds returns the round logs of one run in the order
  // in which they were appended.
  virtual absl::StatusOr<std::vector<RunRow>> Runs() = 0;
  virtual absl::StatusOr<std::vector<RoundRow>> Rounds(RowId run) = 0;
  // Overwrites a record's verdict: whether its output was compared with the reference and agrees, its status and its
  // error.
  virtual absl::Status SetVerdict(RowId record, bool verified, absl::string_view status,
                                  absl::string_view error) = 0;

  // Returns the records of a workload on a target, or only those of one run, in the order of their ids. Within a run
  // that is the order in which they were appended.
  virtual absl::StatusOr<std::vector<RecordRow>> Records(RowId workload, RowId target,
                                                         std::optional<RowId> run = std::nullopt) = 0;
  // Returns the record with the smallest Seconds among those that CanBeBest (and are verified, if asked); ties go to
  // the smaller id; nullopt if there is none. Only records that were timed with the given state of the caches count. If
  // a run has such records from a race, its other records do not count. Records with any other flags compete: a caller
  // that must not mix them selects from Records.
  virtual absl::StatusOr<std::optional<RecordRow>> Best(RowId workload, RowId target,
                                                        bool verified_only = false,
                                                        Caches caches = Caches::kWarm) = 0;
  // Returns the best records of all workloads and targets, ordered by the ids of the workloads, then of the targets:
  // for each pair, one for each state of the caches that has one.
  virtual absl::StatusOr<std::vector<RecordEntry>> BestAll(bool verified_only = false) = 0;
  virtual absl::StatusOr<RecordEntry> Get(RowId record) = 0;

  // Stores a model, and replaces the model with the same key and target. Ignores the field `id`.
  virtual absl::Status SaveModel(const ModelRow& model) = 0;
  virtual absl::StatusOr<std::optional<ModelRow>> LoadModel(absl::string_view key, RowId target) = 0;

  // Returns a copy of all workloads, targets, runs and records, as of one instant.
  virtual absl::StatusOr<StoreContents> ReadAll() = 0;
  // Adds the rows of `contents` that the store lacks, or nothing if it fails. Merging the same contents again adds
  // nothing. A run that a merge creates or extends is marked finished, since no state describes it. Returns
  // kAlreadyExists if a stored record has the run, task and trial of an incoming one but another measurement (two
  // copies of a store continued the same run).
  virtual absl::StatusOr<MergeResult> Merge(const StoreContents& contents) = 0;
};

}  // namespace kiln
