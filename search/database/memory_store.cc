#include "search/database/memory_store.h"

#include <algorithm>
#include <set>
#include <unordered_map>
#include <utility>

#include "absl/strings/str_cat.h"
#include "search/database/best_of_runs.h"

namespace kiln {
namespace {

template <typename Row>
absl::Status Require(const std::vector<Row>& rows, absl::string_view table, RowId id) {
  if (id >= 1 && static_cast<size_t>(id) <= rows.size()) return absl::OkStatus();
  return absl::NotFoundError(absl::StrCat("the store has no ", table, " ", id));
}

template <typename Row>
RowId Push(std::vector<Row>& rows, Row row) {
  row.id = static_cast<RowId>(rows.size()) + 1;
  rows.push_back(std::move(row));
  return rows.back().id;
}

// A store that keeps its rows in vectors in memory. The id of a row is its index plus one. Operations that may fail
// midway copy all contents first, and restore them after a failure.
class MemoryStore : public Store {
 public:
  absl::StatusOr<RowId> PutWorkload(absl::string_view hash, absl::string_view name,
                                    absl::string_view program) override {
    if (const absl::Status valid = CheckHash("hash", hash); !valid.ok()) return valid;
    for (const WorkloadRow& row : all_.workloads) {
      if (row.hash == hash && row.program == program) return row.id;
    }
    return Push(all_.workloads, {0, std::string(hash), std::string(name), std::string(program)});
  }

  absl::StatusOr<RowId> PutTarget(absl::string_view text, absl::string_view fingerprint) override {
    for (const TargetRow& row : all_.targets) {
      if (row.text == text && row.fingerprint == fingerprint) return row.id;
    }
    return Push(all_.targets, {0, std::string(text), std::string(fingerprint)});
  }

  absl::StatusOr<RowId> BeginRun(const RunRow& run) override {
    RunRow begun = run;
    if (begun.uid.empty()) begun.uid = RandomUid();
    begun.finished = false;
    if (const absl::Status valid = CheckHash("uid", begun.uid); !valid.ok()) return valid;
    if (RunWithUid(begun.uid) != 0)
      return absl::AlreadyExistsError(absl::StrCat("the store has run ", begun.uid));
    return Push(all_.runs, std::move(begun));
  }

  absl::StatusOr<std::optional<RunRow>> FindUnfinishedRun(absl::string_view command) override {
    for (auto run = all_.runs.rbegin(); run != all_.runs.rend(); ++run) {
      if (run->command == command && !run->finished) return *run;
    }
    return std::nullopt;
  }

  absl::Status UpdateRunState(RowId run, absl::string_view state) override {
    if (const absl::Status found = Require(all_.runs, "run", run); !found.ok()) return found;
    if (all_.runs[run - 1].finished)
      return absl::FailedPreconditionError(absl::StrCat("run ", run, " is finished"));
    all_.runs[run - 1].state = std::string(state);
    return absl::OkStatus();
  }

  absl::Status FinishRun(RowId run) override {
    if (const absl::Status found = Require(all_.runs, "run", run); !found.ok()) return found;
    all_.runs[run - 1].finished = true;
    return absl::OkStatus();
  }

  absl::StatusOr<std::vector<RowId>> AppendRecords(RowId run, absl::Span<const RecordRow> records,
                                                   absl::string_view state,
                                                   absl::Span<const RoundRow> rounds) override {
    const StoreContents before = all_;
    std::vector<RowId> ids;
    absl::Status status = UpdateRunState(run, state);
    for (size_t i = 0; status.ok() && i < records.size(); ++i) {
      RecordRow record = records[i];
      record.run = run;
      status = CanAdd(record);
      if (status.ok() && RecordOf(record) != nullptr) {
        status = absl::AlreadyExistsError(
            absl::StrCat("run ", run, " has task ", record.task, ", trial ", record.trial));
      }
      if (status.ok()) ids.push_back(Push(all_.records, std::move(record)));
    }
    if (!status.ok()) {
      all_ = before;
      return status;
    }
    for (RoundRow round : rounds) {
      round.run = run;
      const auto same = [&](const RoundRow& r) {
        return r.run == run && r.task == round.task && r.round == round.round;
      };
      if (std::none_of(rounds_.begin(), rounds_.end(), same)) rounds_.push_back(std::move(round));
    }
    return ids;
  }

  absl::StatusOr<std::vector<RunRow>> Runs() override { return all_.runs; }

  absl::StatusOr<std::vector<RoundRow>> Rounds(RowId run) override {
    if (const absl::Status found = Require(all_.runs, "run", run); !found.ok()) return found;
    std::vector<RoundRow> rounds;
    std::copy_if(rounds_.begin(), rounds_.end(), std::back_inserter(rounds),
                 [run](const RoundRow& round) { return round.run == run; });
    return rounds;
  }

  absl::Status SetVerdict(RowId record, bool verified, absl::string_view status,
                          absl::string_view error) override {
    if (const absl::Status found = Require(all_.records, "record", record); !found.ok()) return found;
    RecordRow changed = all_.records[record - 1];
    changed.verified = verified;
    changed.status = std::string(status);
    changed.error = std::string(error);
    if (const absl::Status valid = CheckRecord(changed); !valid.ok()) return valid;
    all_.records[record - 1] = std::move(changed);
    return absl::OkStatus();
  }

  absl::StatusOr<std::vector<RecordRow>> Records(RowId workload, RowId target,
                                                 std::optional<RowId> run) override {
    std::vector<RecordRow> found;
    for (const RecordRow& record : all_.records) {
      if (record.workload == workload && record.target == target && record.run == run.value_or(record.run)) {
        found.push_back(record);
      }
    }
    return found;
  }

  absl::StatusOr<std::optional<RecordRow>> Best(RowId workload, RowId target, bool verified_only,
                                                Caches caches) override {
    BestOfRuns runs;
    for (const RecordRow& record : all_.records) {
      if (record.workload != workload || record.target != target || !CanBeBest(record)) continue;
      if ((!verified_only || record.verified) && record.flags.caches() == caches) runs.Offer(record);
    }
    if (runs.Best() == 0) return std::nullopt;
    return all_.records[runs.Best() - 1];
  }

  absl::StatusOr<std::vector<RecordEntry>> BestAll(bool verified_only) override {
    std::set<std::pair<RowId, RowId>> pairs;
    for (const RecordRow& record : all_.records) pairs.emplace(record.workload, record.target);
    std::vector<RecordEntry> entries;
    for (const auto& [workload, target] : pairs) {
      for (const Caches caches : kAllCaches) {
        const std::optional<RecordRow> best = *Best(workload, target, verified_only, caches);
        if (best) entries.push_back(*Get(best->id));
      }
    }
    return entries;
  }

  absl::StatusOr<RecordEntry> Get(RowId id) override {
    if (const absl::Status found = Require(all_.records, "record", id); !found.ok()) return found;
    const RecordRow& record = all_.records[id - 1];
    return RecordEntry{record, all_.workloads[record.workload - 1], all_.targets[record.target - 1],
                       all_.runs[record.run - 1]};
  }

  absl::Status SaveModel(const ModelRow& model) override {
    if (const absl::Status found = Require(all_.targets, "target", model.target); !found.ok()) return found;
    for (ModelRow& row : models_) {
      if (row.key != model.key || row.target != model.target) continue;
      const RowId id = row.id;
      row = model;
      row.id = id;
      return absl::OkStatus();
    }
    Push(models_, model);
    return absl::OkStatus();
  }

  absl::StatusOr<std::optional<ModelRow>> LoadModel(absl::string_view key, RowId target) override {
    for (const ModelRow& row : models_) {
      if (row.key == key && row.target == target) return row;
    }
    return std::nullopt;
  }

  absl::StatusOr<StoreContents> ReadAll() override { return all_; }

  absl::StatusOr<MergeResult> Merge(const StoreContents& contents) override {
    const StoreContents before = all_;
    absl::StatusOr<MergeResult> result = AddContents(contents);
    if (!result.ok()) all_ = before;
    return result;
  }

 private:
  absl::Status CanAdd(const RecordRow& record) const {
    if (const absl::Status valid = CheckRecord(record); !valid.ok()) return valid;
    if (const absl::Status found = Require(all_.workloads, "workload", record.workload); !found.ok())
      return found;
    return Require(all_.targets, "target", record.target);
  }

  RowId RunWithUid(absl::string_view uid) const {
    for (const RunRow& run : all_.runs) {
      if (run.uid == uid) return run.id;
    }
    return 0;
  }

  const RecordRow* RecordOf(const RecordRow& key) const {
    for (const RecordRow& record : all_.records) {
      if (record.run == key.run && record.task == key.task && record.trial == key.trial) return &record;
    }
    return nullptr;
  }

  absl::StatusOr<MergeResult> AddContents(const StoreContents& contents) {
    std::unordered_map<RowId, RowId> workloads, targets, runs;
    for (const WorkloadRow& row : contents.workloads) {
      const auto id = PutWorkload(row.hash, row.name, row.program);
      if (!id.ok()) return id.status();
      workloads[row.id] = *id;
    }
    for (const TargetRow& row : contents.targets) targets[row.id] = *PutTarget(row.text, row.fingerprint);
    for (RunRow row : contents.runs) {
      if (const absl::Status valid = CheckHash("uid", row.uid); !valid.ok()) return valid;
      RowId& id = runs[row.id];
      id = RunWithUid(row.uid);
      row.finished = true;
      row.state.clear();
      if (id == 0) id = Push(all_.runs, std::move(row));
    }
    MergeResult result;
    for (RecordRow row : contents.records) {
      row.workload = workloads[row.workload];
      row.target = targets[row.target];
      row.run = runs[row.run];
      if (row.run == 0) return absl::NotFoundError("a record refers to a run that is not among the contents");
      RunRow& run = all_.runs[row.run - 1];
      if (const RecordRow* stored = RecordOf(row); stored != nullptr) {
        if (!SameMeasurement(*stored, row)) return DifferentMeasurement(*stored, run.uid);
        ++result.present;
        continue;
      }
      if (const absl::Status valid = CanAdd(row); !valid.ok()) return valid;
      Push(all_.records, std::move(row));
      run.finished = true;
      ++result.added;
    }
    return result;
  }

  StoreContents all_;
  std::vector<ModelRow> models_;
  std::vector<RoundRow> rounds_;
};

}  // namespace

std::unique_ptr<Store> MakeMemoryStore() { return std::make_unique<MemoryStore>(); }

}  // namespace kiln
