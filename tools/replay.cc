#include "absl/strings/str_cat.h"
#include "backends/measure/measurer.h"
#include "lang/analysis/cost.h"
#include "tools/flags_text.h"
#include "tools/interrupt.h"
#include "tools/record.h"
#include "tools/subcommands.h"
#include "tools/target_option.h"
#include "tools/workers.h"

namespace kiln::tools {
namespace {

struct Options {
  RecordOption record;
  std::string target;
  bool json = false;
};

absl::Status Outcome(RowId id, const Rebuilt& record, const MeasureResult& result) {
  if (result.status == outcome::kInterrupted) return Interrupted();
  if (!result.ok())
    return absl::FailedPreconditionError(
        absl::StrCat("record ", id, ": ", result.status, ": ", result.error));
  if (!record.same_program) {
    return absl::DataLossError(
        absl::StrCat("record ", id, ": its trace gives another program than it did when it was recorded"));
  }
  if (!result.verified)
    return absl::FailedPreconditionError(
        absl::StrCat("record ", id, ": could not be compared with the original"));
  return absl::OkStatus();
}

absl::Status ReplayRecord(const Options& options) {
  const absl::StatusOr<Rebuilt> record = Rebuild(options.record);
  if (!record.ok()) return record.status();
  const RecordRow& row = record->entry.record;
  const bool same_machine = IsHost(record->target);
  if (!same_machine && options.target.empty()) {
    return absl::FailedPreconditionError(absl::StrCat(
        "record ", row.id, " was measured on another machine (", record->entry.target.fingerprint,
        "; this is ", Host().fingerprint, "); --target host runs it here all the same"));
  }
  CpuMeasurerOptions measuring;
  measuring.threads = record->target.cores;
  measuring.contract = row.flags.contract;
  measuring.cold_cache = row.flags.cold;
  measuring.run_seconds = 60;
  measuring.race_seconds = 2;
  measuring.object_folder = ObjectFolder(options.record.database);
  auto measurer = CpuMeasurer::Start(measuring);
  if (!measurer.ok()) return measurer.status();
  MeasureRequest request;
  request.original = &record->original;
  request.scheduled = &record->scheduled;
  MeasureResult result;
  {
    const Stoppable stoppable([&] { measurer->Interrupt(); });
    result = measurer->Race({request})[0];
  }
  RecordRow now;
  now.samples = result.samples;
  const double before = Seconds(row), after = Seconds(now), flops = Flops(record->original);
  const absl::Status status = Outcome(options.record.id, *record, result);
  if (options.json) {
    if (!status.ok()) return status;
    Print(Json{{"id", row.id},
               {"workload", record->entry.workload.name},
               {"verified", result.verified},
               {"recorded_seconds", before},
               {"seconds", after},
               {"samples", result.samples},
               {"flags", result.flags.Print()},
               {"same_machine", same_machine}});
    return status;
  }
  std::printf("record %ld: %s\n", static_cast<long>(row.id), record->entry.workload.name.c_str());
  std::printf("  recorded  %s, %s\n", TimeText(before).c_str(), RateText(flops, before).c_str());
  if (!result.samples.empty()) {
    std::printf("  now       %s, %s (median of %zu)\n", TimeText(after).c_str(),
                RateText(flops, after).c_str(), result.samples.size());
  }
  if (result.ok()) {
    const Quiet quiet = QuietOf(result.taken, result.flags);
    std::printf("  how       %s\n", FlagsText(result.flags, quiet).c_str());
    const std::string noise = NoiseText(result.flags, quiet, after, 0);
    if (!noise.empty()) std::printf("  noisy     %s\n", noise.c_str());
  }
  if (result.verified) std::printf("  verified  its outputs agree with those of the original\n");
  if (!same_machine)
    std::printf("  note      it was recorded on another machine, %s\n",
                record->entry.target.fingerprint.c_str());
  return status;
}

}  // namespace

Action AddReplay(CLI::App& command) {
  auto options = std::make_shared<Options>();
  AddRecordOption(command, &options->record);
  command
      .add_option("--target", options->target, "host: run it here though it was measured on another machine")
      ->check(CLI::IsMember({"host"}));
  AddJson(command, &options->json);
  return [options] { return ReplayRecord(*options); };
}

}  // namespace kiln::tools
