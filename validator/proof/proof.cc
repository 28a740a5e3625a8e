#include "validator/proof/proof.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "lang/analysis/legality.h"
#include "lang/reference/symbolic.h"
#include "lang/threads/synchronization.h"
#include "validator/proof/obligations.h"
#include "validator/proof/synchronization.h"
#include "validator/proof/versions.h"

namespace kiln {
namespace proof {
namespace {

// True if the scheduled program has the original's buffers under the same numbers, and the same parameters and
// constants.
bool SameBuffers(const Program& original, const Program& scheduled) {
  if (original.parameters != scheduled.parameters || original.buffers.size() > scheduled.buffers.size())
    return false;
  for (size_t b = 0; b < original.buffers.size(); ++b) {
    const Buffer &one = original.buffers[b], &other = scheduled.buffers[b];
    const auto shape = original.Dims(one.shape), now = scheduled.Dims(other.shape);
    if (one.dtype != other.dtype || one.role != other.role || one.data != other.data ||
        !std::equal(shape.begin(), shape.end(), now.begin(), now.end()))
      return false;
  }
  return original.constants == scheduled.constants ||
         (original.constants != nullptr && scheduled.constants != nullptr &&
          *original.constants == *scheduled.constants);
}

double Instances(const Program& program) {
  const Spaces spaces(program);
  double instances = 0;
  for (const Id block : spaces.blocks()) {
    double own = 1;
    for (const Id loop : spaces.of(block).loops)
      own *= static_cast<double>(program.loop(loop).extent.Known());
    instances += own;
  }
  return instances;
}

Finding Compare(Decider& decider, const Program& one, const Program& other, int64_t most_steps) {
  const Model original(one), scheduled(other);
  Comparison comparison(decider, original, most_steps);
  Finding finding = Obligations(decider, comparison, original, original).Check();
  if (finding.answer != Answer::kYes) {
    finding.answer = Answer::kUnknown;
    finding.why = absl::StrCat("of the original: ", finding.why);
    return finding;
  }
  finding = SameOutputs(decider, scheduled, original);
  if (finding.answer != Answer::kYes) return finding;
  return Obligations(decider, comparison, scheduled, original).Check();
}

// Proves that the threads of kernels wait for each other wherever they must, at the points of PlanSynchronization
// (lang/threads/synchronization.h).
Finding OrderThreads(Decider& decider, const Program& scheduled) {
  if (!HasAxes(scheduled)) return {};
  const absl::StatusOr<SyncPlan> plan = PlanSynchronization(scheduled);
  if (!plan.ok()) return {Answer::kUnknown, std::string(plan.status().message()), {}};
  return CheckSynchronization(decider, Spaces(scheduled), *plan);
}

Finding CompareVersions(Decider& decider, Program original, Program scheduled, int64_t most_steps) {
  const Finding finding = SeparateVersions(decider, original, scheduled);
  return finding.answer == Answer::kYes ? Compare(decider, original, scheduled, most_steps) : finding;
}

}  // namespace
}  // namespace proof

absl::string_view ToString(Proof::Verdict verdict) {
  constexpr absl::string_view kNames[] = {"proven", "refuted", "too hard"};
  return kNames[static_cast<int>(verdict)];
}

absl::Status RejectRefuted(const Proof& proof, absl::string_view what) {
  if (proof.verdict != Proof::Verdict::kRefuted) return absl::OkStatus();
  return absl::FailedPreconditionError(
      absl::StrCat(what, " does not compute what the original does: ", proof.reason));
}

Proof Prove(const Program& original, const Program& scheduled, const ProofOptions& options) {
  using Verdict = Proof::Verdict;
  using namespace proof;  // NOLINT
  if (!SameBuffers(original, scheduled)) return {Verdict::kTooHard, "the programs have other buffers"};
  Decider decider(options.prover, options.most_points, absl::Now() + options.limit);
  Finding finding = MayWriteAnew(original) ? CompareVersions(decider, original, scheduled, options.most_steps)
                                           : Compare(decider, original, scheduled, options.most_steps);
  if (finding.answer == Answer::kYes) finding = OrderThreads(decider, scheduled);
  if (finding.answer == Answer::kYes) return {Verdict::kProven, ""};
  if (Instances(original) + Instances(scheduled) > static_cast<double>(options.most_instances))
    return {Verdict::kTooHard, finding.why};
  const absl::StatusOr<SymbolicOutputs> wanted = RunSymbolic(original);
  if (!wanted.ok()) return {Verdict::kTooHard, std::string(wanted.status().message()), true};
  const InterpreterOptions runs[] = {{},
                                     {.shuffle = 1, .pipelines = PipelineOrder::kRandom},
                                     {.pipelines = PipelineOrder::kEager},
                                     {.pipelines = PipelineOrder::kLate}};
  for (const InterpreterOptions& run : runs) {
    const absl::Status agrees = CheckSymbolic(scheduled, *wanted, run);
    if (!agrees.ok()) return {Verdict::kRefuted, absl::StrCat(agrees.message(), "; ", finding.why), true};
  }
  return {Verdict::kTooHard, finding.why, true};
}

Proof Prove(const Program& original, const Replayed& replayed, const ProofOptions& options) {
  Proof proof = Prove(replayed.state.Reference(original), replayed.program(), options);
  proof.assumptions = AssumptionsOf(replayed.trace->steps);
  return proof;
}

}  // namespace kiln
