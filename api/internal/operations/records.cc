// Session::Replay and Session::Best: builds a record again and times it, and lists the best records.
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "api/errors.h"
#include "api/internal/measurers.h"
#include "api/internal/operations/operations.h"
#include "api/internal/store/flags_text.h"
#include "api/internal/store/open_store.h"
#include "api/internal/store/record.h"
#include "api/internal/store/static_results.h"
#include "api/internal/store/trust.h"
#include "api/internal/workers.h"
#include "api/text.h"
#include "backends/cpu/targets.h"
#include "lang/analysis/cost.h"
#include "lang/text/text.h"
#include "search/run/run_key.h"

namespace kiln::api {
namespace {

constexpr int kSamples = 20;  // samples of a replay

// Returns the floating-point operations of a workload, or 0 if its text does not parse.
double FlopsOf(const WorkloadRow& workload) {
  const absl::StatusOr<Program> program = ParseProgram(workload.program);
  return program.ok() ? Flops(*program) : 0;
}

std::string TargetText(const TargetRow& row) {
  const absl::StatusOr<Target> target = TargetOf(row);
  if (target.ok() && target->gpu != nullptr) return absl::StrCat(target->gpu->name, " (", target->cpu, ")");
  return target.ok() && !target->cpu.empty() ? MachineText(*target) : row.fingerprint;
}

absl::Status Judge(const Rebuilt& record, const MeasureResult& result) {
  const RowId id = record.entry.record.id;
  if (result.status == outcome::kInterrupted)
    return absl::CancelledError(absl::StrCat("record ", id, ": interrupted"));
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

}  // namespace

absl::StatusOr<Target> TargetOfRecord(const std::string& name, const Target& measured) {
  if (name.empty()) return measured;
  absl::StatusOr<Target> target = NamedTarget(name, measured.cores);
  if (!target.ok()) return Mistake(target.status());
  return target;
}

std::string MachineText(const Target& target) {
  return absl::StrCat(target.cpu, ", ", CoresText(target.cores));
}

absl::StatusOr<std::vector<BestRecord>> BestRecords(const SessionOptions& options) {
  auto store = OpenExistingStore(options.database);
  if (!store.ok()) return store.status();
  const auto entries = (*store)->BestAll();
  if (!entries.ok()) return entries.status();
  std::vector<BestRecord> list;
  ThisMachine here;
  for (const RecordEntry& e : *entries) {
    const absl::StatusOr<Target> target = TargetOf(e.target);
    const double clock = StaticClockOf(e.target);
    list.push_back({.id = e.record.id,
                    .workload = e.workload.name,
                    .workload_hash = e.workload.hash,
                    .target = TargetText(e.target),
                    .fingerprint = e.target.fingerprint,
                    .measured_here = target.ok() && here.Is(*target),
                    .seconds = clock > 0 ? 0 : Seconds(e.record),
                    .flops = FlopsOf(e.workload),
                    .cycles = Seconds(e.record) * clock,
                    .verified = e.record.verified,
                    .proven = IsProven(e.record),
                    .assumptions = e.record.assumptions,
                    .trial = e.record.trial,
                    .flags = e.record.flags.Print(),
                    .how = FlagsText(e.record),
                    .trust = TrustText(e.record),
                    .noisy = e.record.flags.noisy});
  }
  return list;
}

absl::StatusOr<ReplayResult> ReplayRecord(const SessionOptions& options, RowId id, bool here, Stop& stop) {
  const Stop::Work work(stop);
  const absl::StatusOr<Rebuilt> record = Rebuild(options.database, id);
  if (!record.ok()) return record.status();
  const RecordRow& row = record->entry.record;
  if (row.flags.is_static)
    return absl::FailedPreconditionError(absl::StrCat("record ", row.id, " is static: it was estimated for ",
                                                      record->entry.target.fingerprint,
                                                      ", and nothing was timed"));
  const bool same_machine = ThisMachine().Is(record->target);
  if (!same_machine && record->target.gpu != nullptr)
    return absl::FailedPreconditionError(absl::StrCat("record ", row.id, " was measured on another GPU (",
                                                      record->entry.target.fingerprint, ")"));
  if (!same_machine && !here) {
    return absl::FailedPreconditionError(absl::StrCat(
        "record ", row.id, " was measured on another machine (", record->entry.target.fingerprint,
        "; this is ", Host().fingerprint, "); --target host runs it here all the same"));
  }
  auto started = StartMeasurerOf(*record, options, kSamples, ObjectFolder(options.database));
  if (!started.ok()) return started.status();
  MeasureRequest request;
  request.original = &record->original;
  request.scheduled = &record->scheduled;
  request.in_model = row.flags.in_model;
  MeasureResult measured;  // stays "interrupted" if the stop came before the race
  if (!stop.asked()) {
    const Stop::Work racing(stop, started->interrupt);
    measured = started->measurer->Race({request})[0];
  }
  RecordRow now;
  now.samples = measured.samples;
  const Quiet quiet = QuietOf(measured.raw_samples, measured.flags);
  ReplayResult result{.id = row.id,
                      .workload = record->entry.workload.name,
                      .verified = measured.verified,
                      .recorded_seconds = Seconds(row),
                      .seconds = Seconds(now),
                      .flops = Flops(record->original),
                      .samples = measured.samples,
                      .flags = measured.flags.Print(),
                      .same_machine = same_machine,
                      .measured_on = record->entry.target.fingerprint,
                      .status = Judge(*record, measured)};
  if (measured.ok()) {
    result.how = FlagsText(measured.flags, quiet);
    result.noise = NoiseText(measured.flags, quiet, result.seconds, 0);
  }
  return result;
}

}  // namespace kiln::api
