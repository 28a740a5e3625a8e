#include "backends/export/export.h"
#include "absl/strings/str_cat.h"
#include "backends/prove/presburger.h"
#include "lang/base/phase.h"
#include "tools/interrupt.h"
#include "tools/record.h"
#include "tools/subcommands.h"
#include "tools/target_option.h"
#include "tools/trust.h"
#include "tools/workers.h"
#include "validator/proof/proof.h"

namespace kiln::tools {
namespace {

struct Options {
  RecordOption record;
  std::string folder = ".", name, target;
  bool json = false;
};

absl::Status ExportRecord(const Options& options) {
  const absl::StatusOr<Rebuilt> record = Rebuild(options.record);
  if (!record.ok()) return record.status();
  const RecordRow& row = record->entry.record;
  if (row.status != outcome::kOk) {
    return absl::FailedPreconditionError("record " + std::to_string(row.id) + " failed (" + row.status +
                                         (row.error.empty() ? "" : ": " + row.error) +
                                         "); `kiln best` lists what did not");
  }
  const absl::StatusOr<Target> target = TargetOfRecord(options.target, record->target);
  if (!target.ok()) return target.status();
  proof::PresburgerProver prover;
  const Proof proof = [&] {
    const Phase phase("proof");
    return Prove(record->reference, record->scheduled, {.prover = &prover});
  }();
  const absl::Status status = TurnAwayRefuted(proof, absl::StrCat("record ", row.id, " is not exported: it"));
  if (!status.ok()) return status;
  auto builder = StartBuilder(options.record.database);
  if (!builder.ok()) return builder.status();
  ExportOptions exporting;
  exporting.trace = row.trace;
  exporting.contract = row.flags.contract;
  exporting.checked =
      absl::StrCat(TrustText(proof.verdict == Proof::Verdict::kProven, row.verified, record->assumptions),
                   "\n", kTrustHelp);
  MakeFor(*target, &exporting);
  const std::string name = options.name.empty() ? record->entry.workload.name : options.name;
  const Stoppable stoppable([&] { (*builder)->Interrupt(); });
  const absl::StatusOr<Exported> exported =
      Export(record->scheduled, name, options.folder, **builder, exporting);
  if (!exported.ok()) return exported.status();
  const std::string& made_for = options.target.empty() ? target->cpu : options.target;
  if (options.json) {
    Print(Json{{"id", row.id},
               {"name", exported->name},
               {"verified", row.verified},
               {"target", made_for},
               {"measured_on", record->target.cpu},
               {"measured_here", IsHost(record->target)},
               {"proof", std::string(ToString(proof.verdict))},
               {"assumptions", record->assumptions},
               {"files", exported->files}});
  } else {
    for (const std::string& file : exported->files) std::printf("%s\n", file.c_str());
  }
  if (target->fingerprint != record->target.fingerprint) {
    std::fprintf(stderr, "kiln: note: made for %s, as wished; it was tuned on %s and may be slow there\n",
                 made_for.c_str(), record->entry.target.fingerprint.c_str());
  } else if (!IsHost(*target)) {
    std::fprintf(stderr, "kiln: note: made for the machine that it was tuned on, which is not this one: %s\n",
                 record->entry.target.fingerprint.c_str());
  }
  if (proof.verdict == Proof::Verdict::kTooHard)
    std::fprintf(stderr, "kiln: note: not proven equal to the original: %s\n", proof.reason.c_str());
  if (!row.verified)
    std::fprintf(stderr, "kiln: note: the record was not compared with the original; see `kiln replay`\n");
  return absl::OkStatus();
}

}  // namespace

Action AddExport(CLI::App& command) {
  auto options = std::make_shared<Options>();
  AddRecordOption(command, &options->record);
  command.add_option("-o,--output", options->folder, "Folder for the files, made if it does not exist")
      ->capture_default_str();
  command.add_option("--name", options->name,
                     "Name of the function and the files; the workload's by default");
  AddTarget(command, &options->target,
            "The machine that code is made for; the one it was tuned on by default");
  AddJson(command, &options->json);
  command.footer(absl::StrCat(kTrustHelp, "\n", command.get_footer()));
  return [options] { return ExportRecord(*options); };
}

}  // namespace kiln::tools
