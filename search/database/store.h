// The memory of the search: which programs were tuned for which machine, in which runs, with what outcome.
//
//   workload  a program as text (the reference that is being scheduled) and its 128-bit hash
//   target    a machine as text and its fingerprint; another fingerprint is another target, so
//             what one CPU measured is never served for another
//   run       one tuning command: options, seed, versions, and the state from which a killed run goes on
//   record    one measured candidate of a run: sketch, trace, samples, how it ended
//   round     what is told of a round of a run, for people
//   model     the bytes of a trained cost model
//
// The store knows text, numbers and bytes: it does not parse programs, traces, options or states. Text may
// hold any bytes. It reads no clock: times are given by the caller.
//
// Implementations: sqlite_store.h (one file; the default) and memory_store.h (for tests). Replace it, with
// the contract tests of tests/search/store_test.cc, to keep records on a server that many machines share.
//
// Durability: when AppendRecords has returned OK its records and the run's state are on disk, and they got
// there together: a process killed at any instant leaves the whole batch or nothing of it.
//
// Threads: an object serves one thread at a time and must not be used by a forked child. To share a file,
// open one object per thread or process.
//
// Errors: kInvalidArgument = a malformed row, kNotFound = no such id, kAlreadyExists = the trial or run is
// there already, kFailedPrecondition = the run is finished, kUnavailable = locked for too long or an I/O
// failure, kResourceExhausted = no space left, kPermissionDenied, kDataLoss = the file is damaged. The
// message says the path, what was found and what to do. An operation that fails changes nothing.
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

// The latency of a record in seconds: the median of its samples; infinity without samples.
double Seconds(const RecordRow& record);

// Whether the record can be the best of its workload:
// it ran to the end, is not a lower bound, and has samples.
bool CanBeBest(const RecordRow& record);

// What every implementation demands of rows before it stores them (kInvalidArgument says which field).
absl::Status CheckHash(absl::string_view field, absl::string_view hash);
absl::Status CheckRecord(const RecordRow& record);
// Whether an incoming record, its ids translated, is the one stored under the same run, task and trial. The
// verdict (status, error, verified) may have changed since and is not compared.
bool SameMeasurement(const RecordRow& a, const RecordRow& b);
absl::Status DifferentMeasurement(const RecordRow& stored, absl::string_view run_uid);
// 32 hex digits from the system's entropy.
std::string RandomUid();

class Store {
 public:
  virtual ~Store() = default;

  // The id of the row with this content; the row is made if it is missing. Equal hashes with different
  // programs get different rows.
  virtual absl::StatusOr<RowId> PutWorkload(absl::string_view hash, absl::string_view name,
                                            absl::string_view program) = 0;
  virtual absl::StatusOr<RowId> PutTarget(absl::string_view text, absl::string_view fingerprint) = 0;

  // Stores the run as unfinished; its id and finished fields are ignored.
  virtual absl::StatusOr<RowId> BeginRun(const RunRow& run) = 0;
  // The newest unfinished run of this command.
  virtual absl::StatusOr<std::optional<RunRow>> FindUnfinishedRun(absl::string_view command) = 0;
  virtual absl::Status UpdateRunState(RowId run, absl::string_view state) = 0;
  virtual absl::Status FinishRun(RowId run) = 0;

  // Appends the batch and its rounds and sets the run's state, as one transaction; returns the new ids in
  // order. The id and run fields of the rows are ignored; a round that is there already stays. kAlreadyExists
  // if the run has one of these (task, trial) already, which is what the slower of two processes that resumed
  // the same run sees; kFailedPrecondition if the run is finished.
  virtual absl::StatusOr<std::vector<RowId>> AppendRecords(RowId run, absl::Span<const RecordRow> records,
                                                           absl::string_view state,
                                                           absl::Span<const RoundRow> rounds = {}) = 0;
  // All runs, in the order of their ids,
  // and what is told of the rounds of one in the order in which they were appended.
  virtual absl::StatusOr<std::vector<RunRow>> Runs() = 0;
  virtual absl::StatusOr<std::vector<RoundRow>> Rounds(RowId run) = 0;
  // What comparing a record's output with the reference has shown.
  virtual absl::Status SetVerdict(RowId record, bool verified, absl::string_view status,
                                  absl::string_view error) = 0;

  // In order of their ids, which within a run is the order in which they were appended.
  virtual absl::StatusOr<std::vector<RecordRow>> Records(RowId workload, RowId target,
                                                         std::optional<RowId> run = std::nullopt) = 0;
  // The record with the smallest Seconds among those that CanBeBest (and are verified, if asked); ties go to
  // the smaller id. Of a run with such records of a race only these count. Those with cold caches count if
  // asked for, and then no others. Beside that, records with different flags compete: who must not mix them
  // selects from Records.
  virtual absl::StatusOr<std::optional<RecordRow>> Best(RowId workload, RowId target,
                                                        bool verified_only = false, bool cold = false) = 0;
  // The same for every workload and target that have one,
  // in the order of their ids, the one with cold caches last.
  virtual absl::StatusOr<std::vector<RecordEntry>> BestAll(bool verified_only = false) = 0;
  virtual absl::StatusOr<RecordEntry> Get(RowId record) = 0;

  // One model per key and target: saving replaces it. The id field is ignored.
  virtual absl::Status SaveModel(const ModelRow& model) = 0;
  virtual absl::StatusOr<std::optional<ModelRow>> LoadModel(absl::string_view key, RowId target) = 0;

  // Everything, as of one instant, in memory.
  virtual absl::StatusOr<StoreContents> ReadAll() = 0;
  // Adds what is missing, all or nothing; merging the same contents again adds nothing. A run that a merge
  // makes or extends is finished here, since no state describes it. kAlreadyExists if a record here has the
  // run, task and trial of an incoming one but is another measurement (two copies of a store went on with the
  // same run).
  virtual absl::StatusOr<MergeResult> Merge(const StoreContents& contents) = 0;
};

}  // namespace kiln
