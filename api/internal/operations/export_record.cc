// Session::Export: tries to prove a record, compiles it, and writes its kernel and header to a folder. Refuses records
// that failed or are proven wrong.
#include "absl/strings/str_cat.h"
#include "api/internal/measurers.h"
#include "api/internal/operations/operations.h"
#include "api/internal/store/record.h"
#include "api/internal/store/trust.h"
#include "api/internal/tasks.h"
#include "api/internal/workers.h"
#include "api/text.h"
#include "backends/cpu/targets.h"
#include "backends/export/export.h"
#include "backends/export/gpu_export.h"
#include "backends/prove/presburger.h"
#include "lang/base/phase.h"
#include "lang/text/serialize.h"
#include "search/measure/noise.h"
#include "search/run/run_key.h"
#include "validator/proof/proof.h"

namespace kiln::api {
namespace {

Proof ProofOf(const Rebuilt& record) {
  const Phase phase("proof");
  proof::PresburgerProver prover;
  return Prove(record.reference, record.scheduled, {.prover = &prover});
}

std::vector<std::string> NotesOn(const Rebuilt& record, bool measured_here, const Target& target,
                                 const std::string& made_for, const Proof& proof) {
  std::vector<std::string> notes;
  if (target.fingerprint != record.target.fingerprint) {
    notes.push_back(absl::StrCat("made for ", made_for, ", as wished; it was tuned on ",
                                 record.entry.target.fingerprint, " and may be slow there"));
  } else if (record.entry.record.flags.is_static) {
    notes.push_back(absl::StrCat("static: chosen by estimated cycles; no GPU ran it"));
  } else if (!measured_here) {
    notes.push_back(absl::StrCat("made for the machine that it was tuned on, which is not this one: ",
                                 record.entry.target.fingerprint));
  }
  if (proof.verdict == Proof::Verdict::kTooHard)
    notes.push_back(absl::StrCat("not proven equal to the original: ", proof.reason));
  if (!record.entry.record.verified)
    notes.emplace_back("the record was not compared with the original; see `kiln replay`");
  return notes;
}

}  // namespace

absl::StatusOr<Exported> ExportForGpu(const Program& program, const std::string& name,
                                      const std::string& folder, BuilderPool& builders, const Target& target,
                                      const RecordRow& record, const std::string& checked) {
  BuildRequest request;
  request.program = Serialize(program);
  request.symbol = SafeName(name);
  request.outputs = {BuildOutput::kCubin, BuildOutput::kPtx, BuildOutput::kMlir};
  request.contract = record.flags.contract;
  request.policies = record.flags.policies;
  request.limits.seconds = 120;
  MakeFor(target, /*is_host=*/false, &request);
  BuildResult built = builders.RunAll({request})[0];
  if (!built.ok()) return absl::FailedPreconditionError(built.error);
  const GpuProduct product{.chip = target.cpu,
                           .cubin = std::move(built.outputs[0]),
                           .ptx = std::move(built.outputs[1]),
                           .mlir = std::move(built.outputs[2]),
                           .launches = std::move(built.launches),
                           .prepared = std::move(built.prepared)};
  return ExportGpu(program, name, folder, product, {.trace = record.trace, .checked = checked});
}

absl::StatusOr<ExportResult> ExportRecord(const SessionOptions& options, RowId id,
                                          const ExportSettings& settings, Stop& stop) {
  const Stop::Work work(stop);
  const absl::StatusOr<Rebuilt> record = Rebuild(options.database, id);
  if (!record.ok()) return record.status();
  const RecordRow& row = record->entry.record;
  if (row.status != outcome::kOk) {
    return absl::FailedPreconditionError(absl::StrCat("record ", row.id, " failed (", row.status,
                                                      row.error.empty() ? "" : ": ", row.error,
                                                      "); `kiln best` lists what did not"));
  }
  const absl::StatusOr<Target> target = TargetOfRecord(settings.target, record->target);
  if (!target.ok()) return target.status();
  const Proof proof = ProofOf(*record);
  const absl::Status right = RejectRefuted(proof, absl::StrCat("record ", row.id, " is not exported: it"));
  if (!right.ok()) return right;
  auto builder = StartBuilder(options.database, options.workers);
  if (!builder.ok()) return builder.status();
  if (stop.asked()) return absl::CancelledError("interrupted before anything was written");
  const Stop::Work building(stop, [&] { (*builder)->Interrupt(); });
  ExportOptions exporting;
  exporting.trace = row.trace;
  exporting.contract = row.flags.contract;
  exporting.policies = row.flags.policies;
  exporting.checked =
      absl::StrCat(TrustText(proof.verdict == Proof::Verdict::kProven, row.verified, record->assumptions),
                   "\n", kTrustHelp);
  MakeFor(*target, IsHost(*target), &exporting);
  const bool here = ThisMachine().Is(record->target);
  const std::string& made_for = settings.target.empty() ? target->cpu : settings.target;
  const std::string& name = settings.name.empty() ? record->entry.workload.name : settings.name;
  const absl::StatusOr<Exported> exported =
      target->gpu != nullptr
          ? ExportForGpu(record->scheduled, name, settings.folder, **builder, *target, row, exporting.checked)
          : kiln::Export(record->scheduled, name, settings.folder, **builder, exporting);
  if (!exported.ok()) return exported.status();
  return ExportResult{
      .id = row.id,
      .name = exported->name,
      .parameters = ParametersOf(record->scheduled, ArgumentsOf(record->entry.run.options, row.task),
                                 exported->prepared),
      .verified = row.verified,
      .target = made_for,
      .measured_on = record->target.cpu,
      .measured_here = here,
      .proof = std::string(ToString(proof.verdict)),
      .assumptions = record->assumptions,
      .files = exported->files,
      .notes = NotesOn(*record, here, *target, made_for, proof)};
}

}  // namespace kiln::api
