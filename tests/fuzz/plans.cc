#include "tests/fuzz/plans.h"

#include <atomic>
#include <map>
#include <mutex>
#include <set>
#include <thread>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "backends/lower/passes/plan_loops.h"
#include "backends/lower/plan/loop_plan_text.h"
#include "fmt/format.h"
#include "lang/analysis/annotations.h"
#include "lang/analysis/dataflow.h"
#include "lang/analysis/lowerable.h"
#include "lang/base/random.h"
#include "lang/program/builder.h"
#include "lang/program/scalar.h"
#include "lang/reference/interpreter.h"
#include "lang/text/text.h"
#include "testing/goto_matmul.h"
#include "testing/plan_interpreter.h"
#include "testing/random_program.h"
#include "tests/fuzz/case.h"

namespace kiln::fuzz {
namespace {

constexpr int kTraces = 4;

// Returns the policies that switch a pass of lowering, or a part of a pass, on or off.
std::vector<const PolicyRow*> PoliciesOfPlans() {
  std::set<Policy> policies = {Policy::kDroppableTerms, Policy::kBoundaryVersions, Policy::kShortLoops,
                               Policy::kShareStorage};
  for (const plan::Pass& pass : plan::Passes()) policies.insert(pass.policy);
  std::vector<const PolicyRow*> rows;
  for (const PolicyRow& row : PolicyRows())
    if (policies.contains(row.policy)) rows.push_back(&row);
  return rows;
}

// Draws options of lowering for one of three machines: AVX2, AVX-512 with dot products, or one for which buffers from
// 64 bytes on count as large. Switches a few policies by chance.
LowerOptions DrawMachine(RandomDice& dice) {
  LowerOptions options;
  const int64_t kind = dice.Below(4);
  if (kind == 1) {
    options.vector_bytes = 64;
    options.vector_registers = 32;
    options.features = "+avx512vnni,+avx512bf16";
  }
  if (kind >= 2) options.stream_bytes = 64;
  for (const PolicyRow* row : PoliciesOfPlans())
    if (dice.Flip(row->on_request ? 0.5 : 0.04)) options.policies.Switch(row->policy);
  return options;
}

// A program and its scheduled form. Besides random ones, the fuzzer draws tiled matmuls and rows of exp: random
// programs are seldom tiled like these matmuls, and seldom compute as much for each element as these rows.
struct Scheduled {
  Program before, after;
};

Scheduled DrawMatmul(RandomDice& dice) {
  const auto below = [&](int64_t least, int64_t count) { return least + dice.Below(count); };
  const int64_t mr = below(1, 4), nr = 4 * below(1, 2), kc = below(12, 12);
  const GotoTiles tiles{mr * below(1, 2), mr, nr * below(1, 2), nr, kc};
  const int64_t M = tiles.mc * below(1, 2) + dice.Below(2), N = tiles.nc * below(1, 2), K = kc * below(1, 3);
  return {Matmul(M, N, K), GotoMatmul(M, N, K, tiles, dice.Flip(0.5))};
}

Scheduled DrawRows(RandomDice& dice) {
  const int64_t rows = 2 + dice.Below(4), columns = 8 * (1 + dice.Below(3));
  Builder b("rows");
  const Id x = b.Input("x", DType::kF32, {rows, columns}), y = b.Output("y", DType::kF32, {rows, columns});
  const IndexSum i = b.Iter(0), j = b.Iter(1);
  b.Compute("row", {{"i", rows}, {"j", columns}}, {y, {i, j}},
            b.Make(Op::kExp, DType::kF32, b.Load(x, {i, j})));
  const Program program = b.Finish();
  Schedule s = kiln::Scheduled(program);
  s.VectorizeInner(8);
  return {program, s.program()};
}

void Annotate(Program& p, RandomDice& dice) {
  for (Id node = 0; node < static_cast<Id>(p.nodes.size()); ++node) {
    if (p.IsBlock(node)) {
      for (const absl::string_view key : {kFastMath, kAssumeFinite, kNonTemporal})
        if (dice.Flip(0.3)) SetAnnotation(p, p.block(node).annotations, key, 1);
    } else if (p.IsLoop(node) && dice.Flip(0.2)) {
      SetAnnotation(p, p.loop(node).annotations, kUnrolledSteps, 1 + dice.Below(4));
    }
  }
}

// Returns true if the outputs have equal bytes, except that 0.0 and -0.0 count as equal: a sum that leaves out terms
// may have a zero of the other sign.
bool AreAlike(const Program& p, const std::vector<std::string>& a, const std::vector<std::string>& b) {
  size_t next = 0;
  for (const Id id : p.parameters) {
    if (p.buffers[id].role != Role::kOutput) continue;
    const DType type = p.buffers[id].dtype;
    const size_t size = SizeOf(type), i = next++;
    for (size_t at = 0; at < a[i].size(); at += size) {
      if (a[i].compare(at, size, b[i], at, size) == 0) continue;
      const Scalar x = LoadScalar(type, a[i].data() + at), y = LoadScalar(type, b[i].data() + at);
      if (!IsFloat(type) || x.f != y.f) return false;
    }
  }
  return true;
}

// The result of planning and running the scheduled program of one trace.
struct PlanOutcome {
  bool planned = false;
  std::string wrong;  // describes the fault; empty if there is none
  // What to count of this trace: the name of each pass that changed the plan, and "without NAME" for each policy that
  // was off.
  std::map<std::string, int64_t> counts;
};

PlanOutcome CheckPlan(const Program& drawn, uint64_t seed, int trace) {
  RandomDice dice(Engine({seed, static_cast<uint64_t>(trace), 0x91a5}));
  const int64_t family = dice.Below(20);
  auto [program, scheduled] = family <= 1 ? DrawMatmul(dice)
                              : family == 2
                                  ? DrawRows(dice)
                                  : Scheduled{drawn, DrawTrace(drawn, seed, trace, nullptr).state().program};
  const std::vector<std::string> inputs = RandomInputs(program, dice);
  const auto wanted = kiln::Run(program, inputs);
  LoopNestSummary nests;
  nests.Read(scheduled);
  if (!wanted.ok() || !VerifyLowerable(nests).ok()) return {};
  Annotate(scheduled, dice);
  PlanOutcome outcome{.planned = true, .wrong = {}, .counts = {}};
  const LowerOptions machine = DrawMachine(dice);
  for (const PolicyRow* row : PoliciesOfPlans())
    outcome.counts[absl::StrCat("without ", row->name)] += !machine.policies.Has(row->policy);
  std::string before;
  const plan::Planned made = plan::PlanLoops(scheduled, machine, [&](absl::string_view pass, auto text) {
    const std::string now = text();
    if (absl::StartsWith(now, "kiln.plan") && absl::StartsWith(before, "kiln.plan"))
      outcome.counts[std::string(pass)] += now != before;
    before = now;
  });
  const auto got = RunPlan(made.program, made.plan, inputs, {.shuffle = seed});
  if (!got.ok() || !AreAlike(program, *got, *wanted)) {
    outcome.wrong = fmt::format(
        "{}, without \"{}\"\n{}{}", got.ok() ? "other results" : got.status().ToString(),
        machine.policies.WithoutText(), kiln::ToString(made.program), ToString(made.program, made.plan));
  }
  return outcome;
}

class PlanFuzzer {
 public:
  explicit PlanFuzzer(const PlanStudy& study) : study_(study) {}

  int Run() {
    const absl::Time begin = absl::Now();
    std::vector<std::thread> threads;
    for (int64_t t = 0; t < study_.threads; ++t) threads.emplace_back([this] { Work(); });
    for (std::thread& thread : threads) thread.join();
    bool reached = true;
    for (const auto& [name, count] : counts_) {
      fmt::print("{:>6.2f}% {}\n", 100.0 * static_cast<double>(count) / static_cast<double>(pairs_), name);
      reached &= count * 100 >= pairs_ || pairs_ < 10000;
    }
    fmt::print("{} plans, {} failures, {:.1f} s\n", pairs_, failures_.load(),
               absl::ToDoubleSeconds(absl::Now() - begin));
    WriteSummary(study_.files, "plans",
                 {{"plans", pairs_},
                  {"failures", failures_.load()},
                  {"threads", study_.threads},
                  {"passes", counts_}});
    if (!reached) fmt::print("a pass changes, or is left out of, fewer than 1% of the plans\n");
    return failures_ == 0 && reached ? 0 : 1;
  }

 private:
  void Work() {
    const int64_t seeds = (study_.pairs + kTraces - 1) / kTraces;
    for (int64_t i = next_++; i < seeds && failures_ < study_.failures; i = next_++) {
      const uint64_t seed = static_cast<uint64_t>(study_.seed + i);
      const Program program = DrawProgram(seed);
      for (int trace = 0; trace < kTraces; ++trace) {
        const PlanOutcome outcome = CheckPlan(program, seed, trace);
        const std::lock_guard<std::mutex> lock(mutex_);
        pairs_ += outcome.planned;
        for (const auto& [name, count] : outcome.counts) counts_[name] += count;
        if (outcome.wrong.empty()) continue;
        ++failures_;
        fmt::print("seed {}, trace {}: {}\nrun again: kiln_fuzz --plans 4 --seed {}\n\n", seed, trace,
                   outcome.wrong, seed);
        std::fflush(stdout);
      }
    }
  }

  const PlanStudy study_;
  std::atomic<int64_t> next_ = 0, failures_ = 0;
  std::mutex mutex_;
  int64_t pairs_ = 0;
  std::map<std::string, int64_t> counts_;  // the sums of PlanOutcome::counts
};

}  // namespace

PlanSeed CheckPlans(uint64_t seed) {
  PlanSeed checked;
  const Program program = DrawProgram(seed);
  for (int trace = 0; trace < kTraces && checked.wrong.empty(); ++trace) {
    const PlanOutcome outcome = CheckPlan(program, seed, trace);
    checked.pairs += outcome.planned;
    checked.wrong = outcome.wrong;
  }
  return checked;
}

int FuzzPlans(const PlanStudy& study) { return PlanFuzzer(study).Run(); }

}  // namespace kiln::fuzz
