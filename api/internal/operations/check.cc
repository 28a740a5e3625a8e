// Session::Check: tries to prove that a schedule computes what the original program does, or to refute it. The result
// may be undecided.
#include <fstream>
#include <iterator>

#include "absl/strings/str_cat.h"
#include "api/errors.h"
#include "api/internal/operations/operations.h"
#include "api/internal/store/record.h"
#include "backends/cpu/targets.h"
#include "backends/prove/presburger.h"
#include "lang/base/phase.h"
#include "trace/replay.h"
#include "trace/text.h"
#include "validator/proof/proof.h"

namespace kiln::api {
namespace {

CheckResult CheckPair(const Program& original, const Program& scheduled, const std::string& assumptions,
                      double seconds) {
  const Phase phase("proof");
  proof::PresburgerProver prover;
  const Proof proof = Prove(original, scheduled, {.prover = &prover, .limit = absl::Seconds(seconds)});
  CheckResult result{.verdict = CheckResult::Verdict::kProven,
                     .words = std::string(ToString(proof.verdict)),
                     .reason = proof.reason,
                     .workload = original.name,
                     .assumptions = assumptions,
                     .status = {}};
  if (proof.verdict == Proof::Verdict::kRefuted) {
    result.verdict = CheckResult::Verdict::kRefuted;
    result.status = RejectRefuted(proof, "the scheduled program");
  } else if (proof.verdict == Proof::Verdict::kTooHard) {
    result.verdict = CheckResult::Verdict::kUndecided;
    result.status = absl::UnknownError("it is not known whether the programs are equal");
  }
  return result;
}

absl::StatusOr<Trace> ReadTrace(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) return absl::NotFoundError(absl::StrCat(path, ": there is no such file"));
  const std::string text{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  absl::StatusOr<Trace> trace = ParseTrace(text);
  if (trace.ok()) return trace;
  return absl::InvalidArgumentError(absl::StrCat(path, ": ", trace.status().message()));
}

}  // namespace

absl::StatusOr<const Task*> TaskNamed(const Input& input, const std::string& name) {
  const Task* found = nullptr;
  for (const Task& task : input.tasks) {
    if (!name.empty() && task.program.name != name) continue;
    if (found != nullptr)
      return Mistake(absl::InvalidArgumentError(absl::StrCat(
          input.shown, " has several tasks; --task NAME says which, and `kiln space` lists them")));
    found = &task;
  }
  if (found == nullptr) return NoSuchTask(input, name);
  return found;
}

absl::StatusOr<CheckResult> CheckRecord(const SessionOptions& options, RowId id, double seconds) {
  const absl::StatusOr<Rebuilt> record = Rebuild(options.database, id);
  if (!record.ok()) return record.status();
  return CheckPair(record->reference, record->scheduled, record->assumptions, seconds);
}

absl::StatusOr<CheckResult> CheckTrace(const Input& input, const std::string& trace_file,
                                       const std::string& task, const std::string& target, double seconds) {
  const absl::StatusOr<Trace> trace = ReadTrace(trace_file);
  if (!trace.ok()) return trace.status();
  const absl::StatusOr<const Task*> found = TaskNamed(input, task);
  if (!found.ok()) return found.status();
  absl::StatusOr<Target> machine = NamedTarget(target);
  if (!machine.ok()) return Mistake(machine.status());
  machine->policies = input.policies;
  const Program& original = (*found)->program;
  const absl::StatusOr<Replayed> replayed = Replay(*trace, original, *machine, {.snapshots = false});
  if (!replayed.ok())
    return absl::Status(replayed.status().code(),
                        absl::StrCat(trace_file, ": ", replayed.status().message()));
  return CheckPair(replayed->state.Reference(original), replayed->program(), AssumptionsOf(trace->steps),
                   seconds);
}

}  // namespace kiln::api
