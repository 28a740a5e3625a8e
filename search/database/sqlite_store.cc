#include "search/database/sqlite_store.h"

#include <bit>
#include <cstring>
#include <unordered_map>
#include <utility>

#include "absl/strings/str_cat.h"
#include "search/database/best_of_runs.h"
#include "search/database/schema.h"
#include "search/database/sqlite.h"

namespace kiln {
namespace {

using sqlite::Blob;
using sqlite::Query;
using sqlite::Transaction;

constexpr char kRunColumns[] =
    "id, uid, command, options, seed, kiln_version, llvm_version, xgboost_version, started, state, finished";
constexpr char kRecordColumns[] =
    "id, workload, target, run, task, round, trial, sketch, trace, program_hash, samples, status, error, "
    "lower_bound, flags, verified, created, taken, assumptions, place, facts";
constexpr char kInsertRecord[] =
    "INSERT INTO record (workload, target, run, task, round, trial, sketch, trace, program_hash, samples, "
    "status, error, lower_bound, flags, verified, created, taken, assumptions, place, facts) "
    "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)";

static_assert(std::endian::native == std::endian::little, "samples are stored as little-endian doubles");

std::string PackSamples(const std::vector<double>& samples) {
  std::string bytes(samples.size() * sizeof(double), '\0');
  if (!samples.empty()) std::memcpy(bytes.data(), samples.data(), bytes.size());
  return bytes;
}

std::vector<double> UnpackSamples(const std::string& bytes) {
  std::vector<double> samples(bytes.size() / sizeof(double));
  if (!samples.empty()) std::memcpy(samples.data(), bytes.data(), samples.size() * sizeof(double));
  return samples;
}

WorkloadRow ReadWorkload(const Query& q) {
  return {.id = q.Int(0), .hash = q.Text(1), .name = q.Text(2), .program = q.Text(3)};
}

TargetRow ReadTarget(const Query& q) { return {.id = q.Int(0), .text = q.Text(1), .fingerprint = q.Text(2)}; }

RunRow ReadRun(const Query& q) {
  return {.id = q.Int(0),
          .uid = q.Text(1),
          .command = q.Text(2),
          .options = q.Text(3),
          .seed = static_cast<uint64_t>(q.Int(4)),
          .kiln_version = q.Text(5),
          .llvm_version = q.Text(6),
          .xgboost_version = q.Text(7),
          .started = q.Int(8),
          .state = q.Text(9),
          .finished = q.Int(10) != 0};
}

RecordRow ReadRecord(const Query& q) {
  return {.id = q.Int(0),
          .workload = q.Int(1),
          .target = q.Int(2),
          .run = q.Int(3),
          .task = static_cast<int>(q.Int(4)),
          .round = static_cast<int>(q.Int(5)),
          .trial = static_cast<int>(q.Int(6)),
          .sketch = q.Text(7),
          .trace = q.Text(8),
          .program_hash = q.Text(9),
          .samples = UnpackSamples(q.Text(10)),
          .raw_samples = UnpackSamples(q.Text(17)),
          .status = q.Text(11),
          .error = q.Text(12),
          .lower_bound = q.Int(13) != 0,
          .flags = RecordFlags::Parse(q.Text(14)),
          .verified = q.Int(15) != 0,
          .assumptions = q.Text(18),
          .place = q.Text(19),
          .facts = q.Text(20),
          .created = q.Int(16)};
}

RoundRow ReadRound(const Query& q) {
  return {.run = q.Int(0),
          .task = static_cast<int>(q.Int(1)),
          .round = static_cast<int>(q.Int(2)),
          .trials = static_cast<int>(q.Int(3)),
          .statistics = q.Text(4)};
}

template <typename Row>
absl::StatusOr<std::vector<Row>> ReadRows(Query& query, Row (*read)(const Query&)) {
  std::vector<Row> rows;
  while (query.Next()) rows.push_back(read(query));
  if (!query.status().ok()) return query.status();
  return rows;
}

template <typename Row>
absl::StatusOr<std::optional<Row>> ReadRow(Query& query, Row (*read)(const Query&)) {
  std::optional<Row> row;
  if (query.Next()) row = read(query);
  if (!query.status().ok()) return query.status();
  return row;
}

class SqliteStore : public Store {
 public:
  explicit SqliteStore(std::unique_ptr<sqlite::Connection> db) : db_(std::move(db)) {}

  absl::StatusOr<RowId> PutWorkload(absl::string_view hash, absl::string_view name,
                                    absl::string_view program) override {
    return Changing<RowId>([&] { return AddWorkload(hash, name, program); });
  }

  absl::StatusOr<RowId> PutTarget(absl::string_view text, absl::string_view fingerprint) override {
    return Changing<RowId>([&] { return AddTarget(text, fingerprint); });
  }

  absl::StatusOr<RowId> BeginRun(const RunRow& run) override {
    RunRow begun = run;
    if (begun.uid.empty()) begun.uid = RandomUid();
    begun.finished = false;
    return Changing<RowId>([&] { return AddRun(begun); });
  }

  absl::StatusOr<std::optional<RunRow>> FindUnfinishedRun(absl::string_view command) override {
    Query query(*db_,
                absl::StrCat("SELECT ", kRunColumns,
                             " FROM run WHERE command = ? AND finished = 0 ORDER BY id DESC LIMIT 1"),
                command);
    return ReadRow(query, ReadRun);
  }

  absl::Status UpdateRunState(RowId run, absl::string_view state) override {
    return Changing<RowId>([&] { return SetState(run, state); }).status();
  }

  absl::Status FinishRun(RowId run) override {
    return Changing<RowId>([&]() -> absl::StatusOr<RowId> {
             const auto found = FindRun(run);
             if (!found.ok()) return found.status();
             return Done(Query(*db_, "UPDATE run SET finished = 1 WHERE id = ?", run), run);
           })
        .status();
  }

  absl::StatusOr<std::vector<RowId>> AppendRecords(RowId run, absl::Span<const RecordRow> records,
                                                   absl::string_view state,
                                                   absl::Span<const RoundRow> rounds) override {
    return Changing<std::vector<RowId>>([&]() -> absl::StatusOr<std::vector<RowId>> {
      if (const auto set = SetState(run, state); !set.ok()) return set.status();
      std::vector<RowId> ids;
      for (RecordRow record : records) {
        record.run = run;
        const auto id = AddRecord(record);
        if (!id.ok()) return id.status();
        ids.push_back(*id);
      }
      for (const RoundRow& round : rounds) {
        const absl::Status added =
            Query(*db_,
                  "INSERT OR IGNORE INTO round (run, task, round, trials, statistics) VALUES (?, ?, ?, ?, ?)",
                  run, round.task, round.round, round.trials, round.statistics)
                .Run();
        if (!added.ok()) return added;
      }
      return ids;
    });
  }

  absl::StatusOr<std::vector<RunRow>> Runs() override {
    Query query(*db_, absl::StrCat("SELECT ", kRunColumns, " FROM run ORDER BY id"));
    return ReadRows(query, ReadRun);
  }

  absl::StatusOr<std::vector<RoundRow>> Rounds(RowId run) override {
    if (const auto found = FindRun(run); !found.ok()) return found.status();
    Query query(*db_, "SELECT run, task, round, trials, statistics FROM round WHERE run = ? ORDER BY id",
                run);
    return ReadRows(query, ReadRound);
  }

  absl::Status SetVerdict(RowId record, bool verified, absl::string_view status,
                          absl::string_view error) override {
    return Changing<RowId>([&]() -> absl::StatusOr<RowId> {
             auto changed = FindRecord(record);
             if (!changed.ok()) return changed.status();
             changed->verified = verified;
             changed->status = std::string(status);
             if (const absl::Status valid = CheckRecord(*changed); !valid.ok()) return valid;
             return Done(Query(*db_, "UPDATE record SET verified = ?, status = ?, error = ? WHERE id = ?",
                               verified, status, error, record),
                         record);
           })
        .status();
  }

  absl::StatusOr<std::vector<RecordRow>> Records(RowId workload, RowId target,
                                                 std::optional<RowId> run) override {
    Query query(
        *db_,
        absl::StrCat("SELECT ", kRecordColumns,
                     " FROM record WHERE workload = ? AND target = ? AND (? = 0 OR run = ?) ORDER BY id"),
        workload, target, run.has_value(), run.value_or(0));
    return ReadRows(query, ReadRecord);
  }

  absl::StatusOr<std::optional<RecordRow>> Best(RowId workload, RowId target, bool verified_only,
                                                Caches caches) override {
    Query query(*db_,
                "SELECT id, run, flags, samples FROM record WHERE workload = ? AND target = ? AND status = "
                "? AND lower_bound = 0 AND verified >= ? ORDER BY id",
                workload, target, outcome::kOk, verified_only);
    BestOfRuns runs;
    RecordRow candidate;
    while (query.Next()) {
      candidate.id = query.Int(0);
      candidate.run = query.Int(1);
      candidate.flags = RecordFlags::Parse(query.Text(2));
      candidate.samples = UnpackSamples(query.Text(3));
      if (!candidate.samples.empty() && candidate.flags.caches() == caches) runs.Offer(candidate);
    }
    if (!query.status().ok()) return query.status();
    if (runs.Best() == 0) return std::nullopt;
    auto record = FindRecord(runs.Best());
    if (!record.ok()) return record.status();
    return *std::move(record);
  }

  absl::StatusOr<std::vector<RecordEntry>> BestAll(bool verified_only) override {
    Transaction snapshot(*db_, Transaction::Kind::kRead);
    if (!snapshot.status().ok()) return snapshot.status();
    std::vector<RecordEntry> entries;
    Query pairs(*db_, "SELECT DISTINCT workload, target FROM record ORDER BY workload, target");
    while (pairs.Next()) {
      for (const Caches caches : kAllCaches) {
        const auto best = Best(pairs.Int(0), pairs.Int(1), verified_only, caches);
        if (!best.ok()) return best.status();
        if (!best->has_value()) continue;
        auto entry = Get((*best)->id);
        if (!entry.ok()) return entry.status();
        entries.push_back(*std::move(entry));
      }
    }
    if (!pairs.status().ok()) return pairs.status();
    return entries;
  }

  absl::StatusOr<RecordEntry> Get(RowId id) override {
    auto record = FindRecord(id);
    if (!record.ok()) return record.status();
    auto workload = Find("workload", "id, hash, name, program", record->workload, ReadWorkload);
    if (!workload.ok()) return workload.status();
    auto target = Find("target", "id, text, fingerprint", record->target, ReadTarget);
    if (!target.ok()) return target.status();
    auto run = FindRun(record->run);
    if (!run.ok()) return run.status();
    return RecordEntry{*std::move(record), *std::move(workload), *std::move(target), *std::move(run)};
  }

  absl::Status SaveModel(const ModelRow& model) override {
    return Changing<RowId>([&]() -> absl::StatusOr<RowId> {
             const auto target = Find("target", "id, text, fingerprint", model.target, ReadTarget);
             if (!target.ok()) return target.status();
             return Done(Query(*db_,
                               "INSERT INTO model (key, target, bytes, note) VALUES (?, ?, ?, ?) ON "
                               "CONFLICT (key, target) DO UPDATE SET bytes = excluded.bytes, note = "
                               "excluded.note",
                               model.key, model.target, Blob{model.bytes}, model.note),
                         0);
           })
        .status();
  }

  absl::StatusOr<std::optional<ModelRow>> LoadModel(absl::string_view key, RowId target) override {
    Query query(*db_, "SELECT id, key, target, bytes, note FROM model WHERE key = ? AND target = ?", key,
                target);
    return ReadRow<ModelRow>(query, [](const Query& q) {
      return ModelRow{
          .id = q.Int(0), .key = q.Text(1), .target = q.Int(2), .bytes = q.Text(3), .note = q.Text(4)};
    });
  }

  absl::StatusOr<StoreContents> ReadAll() override {
    Transaction snapshot(*db_, Transaction::Kind::kRead);
    if (!snapshot.status().ok()) return snapshot.status();
    Query workloads(*db_, "SELECT id, hash, name, program FROM workload ORDER BY id");
    Query targets(*db_, "SELECT id, text, fingerprint FROM target ORDER BY id");
    Query runs(*db_, absl::StrCat("SELECT ", kRunColumns, " FROM run ORDER BY id"));
    Query records(*db_, absl::StrCat("SELECT ", kRecordColumns, " FROM record ORDER BY id"));
    auto read_workloads = ReadRows(workloads, ReadWorkload);
    if (!read_workloads.ok()) return read_workloads.status();
    auto read_targets = ReadRows(targets, ReadTarget);
    if (!read_targets.ok()) return read_targets.status();
    auto read_runs = ReadRows(runs, ReadRun);
    if (!read_runs.ok()) return read_runs.status();
    auto read_records = ReadRows(records, ReadRecord);
    if (!read_records.ok()) return read_records.status();
    return StoreContents{*std::move(read_workloads), *std::move(read_targets), *std::move(read_runs),
                         *std::move(read_records)};
  }

  absl::StatusOr<MergeResult> Merge(const StoreContents& contents) override {
    return Changing<MergeResult>([&] { return AddContents(contents); });
  }

 private:
  // Runs `change` in a write transaction and returns its result. If `change` or the commit fails, nothing is changed.
  template <typename Result, typename Change>
  absl::StatusOr<Result> Changing(Change change) {
    Transaction transaction(*db_, Transaction::Kind::kWrite);
    if (!transaction.status().ok()) return transaction.status();
    absl::StatusOr<Result> result = change();
    if (!result.ok()) return result;
    if (const absl::Status committed = transaction.Commit(); !committed.ok()) return committed;
    return result;
  }

  static absl::StatusOr<RowId> Done(Query&& query, RowId id) {
    if (const absl::Status done = query.Run(); !done.ok()) return done;
    return id;
  }

  absl::StatusOr<RowId> Inserted(Query&& query) {
    if (const absl::Status done = query.Run(); !done.ok()) return done;
    return db_->last_id();
  }

  template <typename Row>
  absl::StatusOr<Row> Find(absl::string_view table, absl::string_view columns, RowId id,
                           Row (*read)(const Query&)) {
    Query query(*db_, absl::StrCat("SELECT ", columns, " FROM ", table, " WHERE id = ?"), id);
    auto row = ReadRow(query, read);
    if (!row.ok()) return row.status();
    if (!row->has_value()) return absl::NotFoundError(absl::StrCat(db_->path(), " has no ", table, " ", id));
    return **std::move(row);
  }

  absl::StatusOr<RecordRow> FindRecord(RowId id) { return Find("record", kRecordColumns, id, ReadRecord); }
  absl::StatusOr<RunRow> FindRun(RowId id) { return Find("run", kRunColumns, id, ReadRun); }

  absl::StatusOr<RowId> AddWorkload(absl::string_view hash, absl::string_view name,
                                    absl::string_view program) {
    if (const absl::Status valid = CheckHash("hash", hash); !valid.ok()) return valid;
    Query same(*db_, "SELECT id FROM workload WHERE hash = ? AND program = ?", hash, program);
    if (same.Next()) return same.Int(0);
    if (!same.status().ok()) return same.status();
    return Inserted(
        Query(*db_, "INSERT INTO workload (hash, name, program) VALUES (?, ?, ?)", hash, name, program));
  }

  absl::StatusOr<RowId> AddTarget(absl::string_view text, absl::string_view fingerprint) {
    Query same(*db_, "SELECT id FROM target WHERE text = ? AND fingerprint = ?", text, fingerprint);
    if (same.Next()) return same.Int(0);
    if (!same.status().ok()) return same.status();
    return Inserted(Query(*db_, "INSERT INTO target (text, fingerprint) VALUES (?, ?)", text, fingerprint));
  }

  absl::StatusOr<RowId> AddRun(const RunRow& run) {
    if (const absl::Status valid = CheckHash("uid", run.uid); !valid.ok()) return valid;
    Query same(*db_, "SELECT id FROM run WHERE uid = ?", run.uid);
    if (same.Next())
      return absl::AlreadyExistsError(absl::StrCat(db_->path(), " has run ", run.uid, " already"));
    if (!same.status().ok()) return same.status();
    return Inserted(
        Query(*db_,
              "INSERT INTO run (uid, command, options, seed, kiln_version, llvm_version, xgboost_version, "
              "started, state, finished) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
              run.uid, run.command, run.options, run.seed, run.kiln_version, run.llvm_version,
              run.xgboost_version, run.started, Blob{run.state}, run.finished));
  }

  absl::StatusOr<RowId> SetState(RowId run, absl::string_view state) {
    const auto found = FindRun(run);
    if (!found.ok()) return found.status();
    if (found->finished) {
      return absl::FailedPreconditionError(
          absl::StrCat(db_->path(), ": run ", run, " is finished; begin a new one"));
    }
    return Done(Query(*db_, "UPDATE run SET state = ? WHERE id = ?", Blob{state}, run), run);
  }

  absl::StatusOr<RowId> AddRecord(const RecordRow& r) {
    if (const absl::Status valid = CheckRecord(r); !valid.ok()) return valid;
    Query refers(
        *db_,
        "SELECT EXISTS (SELECT 1 FROM workload WHERE id = ?), EXISTS (SELECT 1 FROM target WHERE id = ?)",
        r.workload, r.target);
    if (!refers.Next()) return refers.status();
    if (refers.Int(0) == 0)
      return absl::NotFoundError(absl::StrCat(db_->path(), " has no workload ", r.workload));
    if (refers.Int(1) == 0)
      return absl::NotFoundError(absl::StrCat(db_->path(), " has no target ", r.target));
    Query same(*db_, "SELECT id FROM record WHERE run = ? AND task = ? AND trial = ?", r.run, r.task,
               r.trial);
    if (same.Next()) {
      return absl::AlreadyExistsError(absl::StrCat(db_->path(), ": run ", r.run, " has task ", r.task,
                                                   ", trial ", r.trial, " already (record ", same.Int(0),
                                                   "); is another process continuing the same run?"));
    }
    if (!same.status().ok()) return same.status();
    return Inserted(Query(*db_, kInsertRecord, r.workload, r.target, r.run, r.task, r.round, r.trial,
                          r.sketch, r.trace, r.program_hash, Blob{PackSamples(r.samples)}, r.status, r.error,
                          r.lower_bound, r.flags.Print(), r.verified, r.created,
                          Blob{PackSamples(r.raw_samples)}, r.assumptions, r.place, r.facts));
  }

  absl::StatusOr<RowId> AddOrFindRun(RunRow run) {
    Query same(*db_, "SELECT id FROM run WHERE uid = ?", run.uid);
    if (same.Next()) return same.Int(0);
    if (!same.status().ok()) return same.status();
    run.finished = true;
    run.state.clear();
    return AddRun(run);
  }

  // Adds the record and marks its run as finished, unless the store has the record. Returns the number of records
  // added, 0 or 1; an error if the store has another measurement of the same run, task and trial.
  absl::StatusOr<int> AddUnlessPresent(const RecordRow& record, absl::string_view run_uid) {
    Query same(
        *db_,
        absl::StrCat("SELECT ", kRecordColumns, " FROM record WHERE run = ? AND task = ? AND trial = ?"),
        record.run, record.task, record.trial);
    const auto stored = ReadRow(same, ReadRecord);
    if (!stored.ok()) return stored.status();
    if (stored->has_value()) {
      if (SameMeasurement(**stored, record)) return 0;
      return DifferentMeasurement(**stored, run_uid);
    }
    if (const auto added = AddRecord(record); !added.ok()) return added.status();
    const absl::Status closed = Query(*db_, "UPDATE run SET finished = 1 WHERE id = ?", record.run).Run();
    if (!closed.ok()) return closed;
    return 1;
  }

  absl::StatusOr<MergeResult> AddContents(const StoreContents& contents) {
    std::unordered_map<RowId, RowId> workloads, targets, runs;
    std::unordered_map<RowId, std::string> uids;
    for (const WorkloadRow& row : contents.workloads) {
      const auto id = AddWorkload(row.hash, row.name, row.program);
      if (!id.ok()) return id.status();
      workloads[row.id] = *id;
    }
    for (const TargetRow& row : contents.targets) {
      const auto id = AddTarget(row.text, row.fingerprint);
      if (!id.ok()) return id.status();
      targets[row.id] = *id;
    }
    for (const RunRow& row : contents.runs) {
      const auto id = AddOrFindRun(row);
      if (!id.ok()) return id.status();
      runs[row.id] = *id;
      uids[*id] = row.uid;
    }
    MergeResult result;
    for (RecordRow row : contents.records) {
      row.workload = workloads[row.workload];
      row.target = targets[row.target];
      row.run = runs[row.run];
      if (row.run == 0) return absl::NotFoundError("a record refers to a run that is not among the contents");
      const auto added = AddUnlessPresent(row, uids[row.run]);
      if (!added.ok()) return added.status();
      ++(*added == 1 ? result.added : result.present);
    }
    return result;
  }

  std::unique_ptr<sqlite::Connection> db_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<Store>> OpenStore(const std::string& path, const StoreOptions& options) {
  auto db = sqlite::Connection::Open(path, options.patience);
  if (!db.ok()) return db.status();
  if (const absl::Status prepared = PrepareSchema(**db); !prepared.ok()) return prepared;
  return std::make_unique<SqliteStore>(*std::move(db));
}

}  // namespace kiln
