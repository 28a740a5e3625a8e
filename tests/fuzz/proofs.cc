#include "tests/fuzz/proofs.h"

#include <algorithm>
#include <map>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "fmt/format.h"
#include "lang/analysis/dataflow.h"
#include "lang/analysis/legality.h"
#include "lang/reference/symbolic.h"
#include "lang/text/text.h"
#include "testing/threads/kernel_memory.h"
#include "tests/fuzz/case.h"
#include "trace/text.h"
#include "validator/proof/proof.h"

namespace kiln::fuzz {
namespace {

constexpr int kTraces = 4;
constexpr double kDecided = 0.95, kFew = 20;  // a share of fewer pairs says nothing
constexpr double kDisturbed = 0.125;          // of single pairs

// Returns the kind of a verdict's reason: its text without quoted names and digits, cut after 90 characters.
std::string KindOf(const std::string& reason) {
  std::string kind;
  bool quoted = false;
  for (const char c : reason) {
    if (c == '"') quoted = !quoted;
    if (!quoted && !absl::ascii_isdigit(c)) kind += c;
  }
  return kind.substr(0, 90);
}

// Makes a change that no step would make and that is illegal in most cases: swaps neighboring nodes, or lets the
// iterations of a loop run in parallel. Returns the program unchanged if it has no node for the drawn change.
Program Disturbed(Program p, Dice& dice) {
  std::vector<Id> nodes;
  const bool swap = dice.Flip(0.6);
  for (Id node = 1; node < static_cast<Id>(p.nodes.size()); ++node) {
    const Node& n = p.nodes[node];
    if (n.kind == Node::Kind::kDead || n.parent == kNone) continue;
    const bool swaps = n.next != kNone && n.prepare == p.nodes[n.next].prepare;
    if (swap ? swaps : p.IsLoop(node) && p.loop(node).kind == LoopKind::kSerial) nodes.push_back(node);
  }
  if (nodes.empty()) return p;
  const Id node = nodes[dice.Below(static_cast<int64_t>(nodes.size()))], next = p.nodes[node].next;
  if (swap) {
    p.Detach(node);
    p.InsertAfter(next, node);
  } else {
    p.loop(node).kind = LoopKind::kParallel;
  }
  return p;
}

// Returns true if symbolic runs of the program give the outputs `wanted`, in all tried orders of parallel and pipelined
// iterations.
bool Agrees(const Program& now, const SymbolicOutputs& wanted, uint64_t seed) {
  for (const PipelineOrder order :
       {PipelineOrder::kInTurn, PipelineOrder::kRandom, PipelineOrder::kEager, PipelineOrder::kLate})
    for (const uint64_t shuffle : {uint64_t{0}, seed | 1})
      if (!CheckSymbolic(now, wanted, {.shuffle = shuffle, .pipelines = order}).ok()) return false;
  return true;
}

// Returns true if the program has kernels, and one of them uses memory that ended with an earlier kernel, such as
// shared memory. Lowering does not accept such programs.
bool PassesMemoryBetweenKernels(const Program& p) {
  if (!HasAxes(p)) return false;
  KernelMemory memory(p);
  for (const Id block : Blocks(p)) {
    std::vector<Id> buffers = ReadBuffers(p, block);
    for (const Id written : WrittenBuffers(p, block)) buffers.push_back(written);
    for (const Id buffer : buffers)
      if (!memory.Use(block, buffer).ok()) return true;
  }
  return false;
}

struct Study {
  std::map<std::string, std::map<std::string, int64_t>> verdicts;  // by kind of pair
  std::map<std::string, int64_t> too_hard;
  std::vector<double> milliseconds;
  int64_t contradictions = 0;

  void Look(const Program& program, const Program& now, uint64_t seed, int trace, const std::string& seeds_of,
            bool disturbed) {
    const absl::StatusOr<SymbolicOutputs> wanted = RunSymbolic(program);
    if (!wanted.ok()) return;
    const bool is_lost = PassesMemoryBetweenKernels(now), agrees = !is_lost && Agrees(now, *wanted, seed);
    const absl::Time begin = absl::Now();
    const Proof proof = Prove(program, now);
    if (is_lost && proof.verdict != Proof::Verdict::kProven) return;
    milliseconds.push_back(absl::ToDoubleMilliseconds(absl::Now() - begin));
    const std::string verdict(ToString(proof.verdict));
    Coverage coverage;
    CountProgram(program, now, &coverage);
    if (disturbed) coverage.cases = {{"disturbed", 1}};
    for (const auto& [kind, count] : coverage.cases) verdicts[kind][verdict] += count;
    if (proof.verdict == Proof::Verdict::kTooHard) ++too_hard[KindOf(proof.reason)];
    const bool contradicts = (proof.verdict == Proof::Verdict::kProven && !agrees) ||
                             (proof.verdict == Proof::Verdict::kRefuted && agrees);
    contradictions += contradicts;
    if (contradicts || verdict == seeds_of) {
      fmt::print("seed {} trace {}: {}{} {}\n", seed, trace, verdict, contradicts ? ", a contradiction" : "",
                 proof.reason);
    }
  }
};

}  // namespace

Broken CheckProof(const Program& original, const Program& now, const SymbolicOutputs& wanted,
                  const Broken& runs, uint64_t seed, Coverage* coverage) {
  using Verdict = Proof::Verdict;
  const Proof proof = Prove(original, now);
  if (coverage != nullptr) ++coverage->cases[std::string(ToString(proof.verdict))];
  if (runs) {
    if (proof.verdict != Verdict::kProven) return runs;
    return {"proof", absl::StrCat("is proven, but breaks \"", runs.property, "\": ", runs.message)};
  }
  if (proof.verdict == Verdict::kRefuted)
    return {"proof", absl::StrCat("is refuted, but holds: ", proof.reason)};
  RandomDice dice(Engine({seed, 9}));
  if (!dice.Flip(kDisturbed)) return {};
  const Program disturbed = Disturbed(now, dice);
  if (!Verify(disturbed).ok() || Agrees(disturbed, wanted, seed)) return {};
  if (coverage != nullptr) ++coverage->cases["disturbed ones that differ"];
  if (Prove(original, disturbed).verdict != Verdict::kProven) return {};
  return {"proof", absl::StrCat("this differs, and is proven:\n", kiln::ToString(disturbed))};
}

int StudyProofs(int64_t pairs, int64_t seed, const std::string& seeds_of, const RunFiles& files) {
  const absl::Time begin = absl::Now();
  Study study;
  for (int64_t i = 0; i < pairs / kTraces; ++i) {
    const auto own = static_cast<uint64_t>(seed + i);
    const Program program = DrawProgram(own);
    for (int t = 0; t < kTraces; ++t) {
      const Session session = DrawTrace(program, own, t, nullptr);
      const Program &reference = session.state().Reference(program), &now = session.state().program;
      study.Look(reference, now, own, t, seeds_of, false);
      RandomDice dice(Engine({own, 6, static_cast<uint64_t>(t)}));
      const Program disturbed = Disturbed(now, dice);
      if (Verify(disturbed).ok()) study.Look(reference, disturbed, own, t, seeds_of, true);
    }
  }
  bool enough = true;
  Json classes;
  for (auto& [kind, verdicts] : study.verdicts) {
    const auto all = static_cast<double>(verdicts["proven"] + verdicts["refuted"] + verdicts["too hard"]);
    const double decided = 1 - static_cast<double>(verdicts["too hard"]) / std::max(1.0, all);
    enough &= decided >= kDecided || all < kFew;
    fmt::print("{:<16} {:>8} proven {:>7} refuted {:>7} too hard   {:.2f}% decided\n", kind,
               verdicts["proven"], verdicts["refuted"], verdicts["too hard"], 100 * decided);
    classes[kind] = verdicts;
  }
  std::vector<std::pair<int64_t, std::string>> reasons;
  for (const auto& [reason, count] : study.too_hard) reasons.emplace_back(count, reason);
  std::sort(reasons.rbegin(), reasons.rend());
  for (size_t i = 0; i < reasons.size() && i < 20; ++i)
    fmt::print("{:>8}  {}\n", reasons[i].first, reasons[i].second);
  std::sort(study.milliseconds.begin(), study.milliseconds.end());
  const auto at = [&](double share) {
    const size_t n = study.milliseconds.size();
    return n == 0 ? 0.0
                  : study.milliseconds[std::min(n - 1, static_cast<size_t>(share * static_cast<double>(n)))];
  };
  fmt::print("{} contradictions; median {:.2f} ms, 95% within {:.1f} ms, longest {:.0f} ms\n",
             study.contradictions, at(0.5), at(0.95), at(1));
  WriteSummary(files, "proofs",
               {{"pairs", study.milliseconds.size()},
                {"contradictions", study.contradictions},
                {"seconds", absl::ToDoubleSeconds(absl::Now() - begin)},
                {"threads", 1},
                {"milliseconds", {{"median", at(0.5)}, {"95%", at(0.95)}, {"longest", at(1)}}},
                {"classes", classes},
                {"too hard", study.too_hard}});
  return study.contradictions == 0 && enough ? 0 : 1;
}

}  // namespace kiln::fuzz
