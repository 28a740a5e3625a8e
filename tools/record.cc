#include "tools/record.h"

#include "absl/strings/str_cat.h"
#include "lang/hash.h"
#include "lang/text.h"
#include "tools/common.h"
#include "trace/replay.h"
#include "trace/text.h"

namespace kiln::tools {
namespace {

absl::Status InRecord(RowId id, absl::string_view what, const absl::Status& status) {
  return absl::Status(absl::IsFailedPrecondition(status) ? status.code() : absl::StatusCode::kDataLoss,
                      absl::StrCat("record ", id, ", ", what, ": ", status.message()));
}

}  // namespace

absl::StatusOr<Target> TargetOf(const TargetRow& row) {
  const Json json = Json::parse(row.text, nullptr, /*allow_exceptions=*/false);
  if (!json.is_object()) return absl::DataLossError("the text of its target is no JSON");
  Target target;
  const auto text = [&](const char* key, std::string& value) {
    if (json.contains(key) && json[key].is_string()) value = json[key];
  };
  const auto number = [&](const char* key, auto& value) {
    if (json.contains(key) && json[key].is_number()) value = json[key];
  };
  text("name", target.name);
  text("triple", target.triple);
  text("cpu", target.cpu);
  text("features", target.features);
  number("cores", target.cores);
  number("vector-bytes", target.vector_bytes);
  number("vector-registers", target.vector_registers);
  if (json.contains("fma") && json["fma"].is_boolean()) target.fma = json["fma"];
  number("l1-bytes", target.l1_bytes);
  number("l2-bytes", target.l2_bytes);
  number("l3-bytes", target.l3_bytes);
  number("max-unrolled", target.max_unrolled);
  target.fingerprint = row.fingerprint;
  return target;
}

void AddRecordOption(CLI::App& command, RecordOption* option) {
  command.add_option("ID", option->id, "A record, as `kiln tune` and `kiln best` name them")->required();
  AddDatabase(command, &option->database);
}

absl::StatusOr<Rebuilt> Rebuild(const RecordOption& option) {
  absl::StatusOr<std::unique_ptr<Store>> store = OpenExistingStore(option.database);
  if (!store.ok()) return store.status();
  absl::StatusOr<RecordEntry> entry = (*store)->Get(option.id);
  if (!entry.ok()) return entry.status();
  Rebuilt rebuilt;
  rebuilt.entry = *std::move(entry);
  absl::StatusOr<Program> original = ParseProgram(rebuilt.entry.workload.program);
  if (!original.ok()) return InRecord(option.id, "program", original.status());
  rebuilt.original = *std::move(original);
  const absl::StatusOr<Trace> trace = ParseTrace(rebuilt.entry.record.trace);
  if (!trace.ok()) return InRecord(option.id, "trace", trace.status());
  absl::StatusOr<Target> target = TargetOf(rebuilt.entry.target);
  if (!target.ok()) return InRecord(option.id, "target", target.status());
  rebuilt.target = *std::move(target);
  absl::StatusOr<Replayed> replayed = Replay(*trace, rebuilt.original, rebuilt.target, {.snapshots = false});
  if (!replayed.ok()) return InRecord(option.id, "replay", replayed.status());
  rebuilt.reference = replayed->state.Reference(rebuilt.original);
  rebuilt.scheduled = replayed->program();
  rebuilt.same_program = ToString(HashOf(rebuilt.scheduled)) == rebuilt.entry.record.program_hash;
  return rebuilt;
}

}  // namespace kiln::tools
