#include "api/internal/store/record.h"

#include "absl/strings/str_cat.h"
#include "api/internal/store/open_store.h"
#include "lang/text/hash.h"
#include "lang/text/text.h"
#include "search/run/run_key.h"
#include "trace/replay.h"
#include "trace/text.h"

namespace kiln::api {
namespace {

absl::Status InRecord(RowId id, absl::string_view what, const absl::Status& status) {
  return absl::Status(absl::IsFailedPrecondition(status) ? status.code() : absl::StatusCode::kDataLoss,
                      absl::StrCat("record ", id, ", ", what, ": ", status.message()));
}

}  // namespace

absl::StatusOr<Rebuilt> Rebuild(const std::string& database, RowId id) {
  absl::StatusOr<std::unique_ptr<Store>> store = OpenExistingStore(database);
  if (!store.ok()) return store.status();
  absl::StatusOr<RecordEntry> entry = (*store)->Get(id);
  if (!entry.ok()) return entry.status();
  Rebuilt rebuilt;
  rebuilt.entry = *std::move(entry);
  absl::StatusOr<Program> original = ParseProgram(rebuilt.entry.workload.program);
  if (!original.ok()) return InRecord(id, "program", original.status());
  rebuilt.original = *std::move(original);
  const absl::StatusOr<Trace> trace = ParseTrace(rebuilt.entry.record.trace);
  if (!trace.ok()) return InRecord(id, "trace", trace.status());
  absl::StatusOr<Target> target = TargetOf(rebuilt.entry.target);
  if (!target.ok()) return InRecord(id, "target", target.status());
  rebuilt.target = *std::move(target);
  absl::StatusOr<Replayed> replayed = Replay(*trace, rebuilt.original, rebuilt.target, {.snapshots = false});
  if (!replayed.ok()) return InRecord(id, "replay", replayed.status());
  rebuilt.reference = replayed->state.Reference(rebuilt.original);
  rebuilt.scheduled = replayed->program();
  rebuilt.assumptions = AssumptionsOf(trace->steps);
  rebuilt.same_program = ToString(HashOf(rebuilt.scheduled)) == rebuilt.entry.record.program_hash;
  return rebuilt;
}

const RecordEntry* BestOf(const std::vector<RecordEntry>& records, const Program& task,
                          const std::string& fingerprint, const Policies& policies, Caches caches) {
  const std::string hash = ToString(HashOf(task)), text = ToString(task);
  const RecordEntry* best = nullptr;
  for (const RecordEntry& e : records) {
    const bool same = e.workload.hash == hash && e.workload.program == text;
    if (!same || e.record.flags.caches() != caches || e.target.fingerprint != fingerprint) continue;
    if (e.record.flags.policies != policies) continue;
    if (best == nullptr || Seconds(e.record) < Seconds(best->record)) best = &e;
  }
  return best;
}

}  // namespace kiln::api
