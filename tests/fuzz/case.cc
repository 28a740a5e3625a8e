#include "tests/fuzz/case.h"

#include <algorithm>
#include <set>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "lang/analysis/dataflow.h"
#include "lang/analysis/legality.h"
#include "lang/analysis/loop_nest_summary.h"
#include "lang/analysis/loops.h"
#include "lang/analysis/region.h"
#include "lang/program/layout.h"
#include "lang/reference/symbolic.h"
#include "lang/text/hash.h"
#include "lang/text/text.h"
#include "lang/threads/synchronization.h"
#include "testing/random_program.h"
#include "testing/threads/thread_clocks.h"
#include "tests/fuzz/bindings.h"
#include "tests/fuzz/kernels.h"
#include "tests/fuzz/proofs.h"
#include "tests/fuzz/trace_properties.h"
#include "tests/support/exact_results.h"
#include "tests/support/random_steps.h"
#include "trace/text.h"
#include "validator/proof/decide.h"
#include "validator/proof/synchronization.h"
#include "validator/validate.h"

namespace kiln::fuzz {
namespace {

constexpr int kTries = 24;
constexpr char kTraceBegins[] = "kiln.trace v";

// Returns the swizzled address of an element, given its indices in the buffer's layout. Returns 0 if the address is
// outside of the buffer's memory. The caller then finds two elements at address 0 and reports a clash.
int64_t SwizzledPlace(const Program& program, const Buffer& buffer, const std::vector<int64_t>& place) {
  int64_t address = 0, elements = 1;
  for (size_t i = 0; i < place.size(); ++i) {
    const int64_t extent = program.marks[program.List(buffer.layout.axes)[i]].extent.Known();
    address = address * extent + place[i];
    elements *= extent;
  }
  const int64_t swizzled = Swizzled(buffer.layout.swizzle, address);
  return swizzled < elements ? swizzled : 0;  // an address outside of the memory counts as a clash
}

// Checks that the layout of each buffer puts different elements at different addresses.
Broken CheckLayouts(const Program& program) {
  for (const Buffer& buffer : program.buffers) {
    if (buffer.layout.axes.count == 0) continue;
    const auto shape = program.Dims(buffer.shape);
    std::set<std::vector<int64_t>> places;
    std::vector<int64_t> index(shape.size(), 0);
    for (bool more = true; more;) {
      std::vector<int64_t> place;
      for (const Id axis : program.List(buffer.layout.axes))
        place.push_back(Evaluate(program.SumOf(axis), [&](Source s) { return index[s.id]; }));
      if (buffer.layout.swizzle.bits != 0) place = {SwizzledPlace(program, buffer, place)};
      if (!places.insert(place).second)
        return {"layout", absl::StrCat("elements of ", program.Text(buffer.name), " share a place")};
      more = false;
      for (size_t d = shape.size(); d-- > 0 && !more;) {
        more = ++index[d] < shape[d].Known();
        if (!more) index[d] = 0;
      }
    }
  }
  return {};
}

// Makes one random loop parallel or vectorized, if it is serial. Checks that the validator refuses the program if this
// changes its results.
Broken CheckValidator(Program program, const SymbolicOutputs& wanted, Dice& dice) {
  const std::vector<Id> loops = LoopsBelow(program, kRoot);
  if (loops.empty()) return {};
  LoopNode& loop = program.loop(loops[dice.Below(static_cast<int64_t>(loops.size()))]);
  if (loop.kind != LoopKind::kSerial) return {};
  loop.kind = dice.Flip(0.5) ? LoopKind::kParallel : LoopKind::kVectorized;
  const Verdict verdict = Validate(program, Target());
  const absl::Status agrees = CheckSymbolic(program, wanted, {.shuffle = 1});
  if (!verdict.ok || agrees.ok()) return {};
  return {"validator", absl::StrCat("lets loop ", program.Text(loop.name), " be ", ToString(loop.kind),
                                    ", but ", agrees.message(), "\n", kiln::ToString(program))};
}

// Plants a fault in a synchronization plan: leaves out a random point, or lets only warps wait there. Checks that the
// proof does not accept the faulty plan if threads race under it.
Broken CheckFaultyPlan(const Program& program, SyncPlan plan, uint64_t seed, int64_t accesses) {
  if (plan.points.empty()) return {};
  RandomDice dice(Engine({seed, 6}));
  const int64_t at = dice.Below(static_cast<int64_t>(plan.points.size()));
  if (dice.Flip(0.5)) {
    plan.points.erase(plan.points.begin() + at);
  } else {
    plan.points[at].among = std::min(plan.points[at].among, Owner::kWarp);
  }
  const absl::Status clocks = CheckThreadClocks(program, plan, accesses);
  if (!absl::IsFailedPrecondition(clocks)) return {};
  proof::Decider decider(nullptr, 10'000, absl::Now() + absl::Seconds(1));
  if (proof::CheckSynchronization(decider, proof::Spaces(program), plan).answer != proof::Answer::kYes)
    return {};
  return {"proof of threads", absl::StrCat("a plan with a fault is proven, but ", clocks.message(), "\n",
                                           kiln::ToString(program))};
}

// Checks that the threads of kernels do not race if they wait where the synchronization plan says. Also checks that the
// proof does not accept a plan with a random fault under which they race. Finds nothing wrong if thread clocks are off,
// if the program has no kernels or no plan, or if the threads make more than 100,000 accesses.
Broken CheckThreads(const Program& program, uint64_t seed) {
  constexpr int64_t kAccesses = 100'000;
  if (!AsksThreadClocks() || !HasAxes(program) || !CheckOwners(program).ok()) return {};
  const absl::StatusOr<SyncPlan> plan = PlanSynchronization(program);
  if (!plan.ok()) return {};  // blocks of a grid would have to wait for each other
  const absl::Status clocks = CheckThreadClocks(program, *plan, kAccesses);
  if (clocks.ok()) return CheckFaultyPlan(program, *plan, seed, kAccesses);
  if (absl::IsResourceExhausted(clocks)) return {};
  return {"thread clocks", absl::StrCat(clocks.message(), "\n", kiln::ToString(program))};
}

// Runs a program and its scheduled form `now` in the interpreter, and checks that their outputs agree bit by bit, but
// for NaNs and unspecified signs of zeros. The random data keep sums exact in any order. Checks nothing if results of
// the program are undefined for these data.
Broken CheckResults(const Program& program, const Program& now, uint64_t seed) {
  RandomDice dice(Engine({seed, 10}));
  const std::vector<std::string> inputs = RandomInputs(program, dice);
  const auto wanted = Run(program, inputs, {.only_defined = true});
  if (!wanted.ok()) return {};
  const auto found = Run(now, inputs, {.shuffle = seed | 1, .pipelines = PipelineOrder::kRandom});
  if (!found.ok()) return {"interpreter", std::string(found.status().message())};
  const std::set<Id> either_zero = EitherZero(now);
  size_t output = 0;
  for (const Id id : program.parameters) {
    const Buffer& buffer = program.buffers[id];
    if (buffer.role != Role::kOutput) continue;
    const std::string difference =
        Difference(buffer.dtype, (*found)[output].data(), (*wanted)[output], either_zero.contains(id));
    if (!difference.empty())
      return {"interpreter", absl::StrCat(program.Text(buffer.name), ": ", difference)};
    ++output;
  }
  return {};
}

// Checks all properties of a program and a trace that applies to it: results, threads, layouts, bindings, the
// validator, the text of the program, and the trace; for a GPU also the proof. Returns the first property that does not
// hold.
Broken CheckEnd(const Program& program, const SymbolicOutputs& of_program, const Session& session,
                uint64_t seed, Coverage* coverage) {
  const Program& now = session.state().program;
  const absl::StatusOr<SymbolicOutputs> wanted_now =
      session.state().lemma == nullptr ? of_program : RunSymbolic(*session.state().lemma);
  if (!wanted_now.ok()) return {"lemma", std::string(wanted_now.status().message())};
  const SymbolicOutputs& wanted = *wanted_now;
  Broken runs = CheckRuns(now, wanted, seed);
  if (FuzzTarget().gpu != nullptr) {
    if (!runs) runs = CheckResults(program, now, seed);
    runs = CheckProof(session.state().Reference(program), now, wanted, runs, seed, coverage);
  }
  if (runs) return runs;
  const Broken layout = CheckLayouts(now);
  if (layout) return layout;
  RandomDice dice(Engine({seed, 5}));
  const Broken bindings = CheckBindings(now, dice);
  if (bindings) return bindings;
  const Broken validator = CheckValidator(now, wanted, dice);
  if (validator) return validator;
  const std::string text = kiln::ToString(now);
  const absl::StatusOr<Program> parsed = ParseProgram(text);
  if (!parsed.ok()) return {"program text", std::string(parsed.status().message())};
  if (!Equal(*parsed, now) || kiln::ToString(*parsed) != text)
    return {"program text", absl::StrCat("what is printed parses as another program:\n", text)};
  return CheckTrace(session.trace(), program, wanted, now, seed);
}

}  // namespace

bool& AsksThreadClocks() {
  static bool asks = true;
  return asks;
}

Broken CheckRuns(const Program& now, const SymbolicOutputs& wanted, uint64_t seed) {
  const std::vector<Id> loops = LoopsBelow(now, kRoot);
  const bool pipelined = std::any_of(loops.begin(), loops.end(),
                                     [&](Id loop) { return now.loop(loop).kind == LoopKind::kPipelined; });
  const struct {
    const char* property;
    InterpreterOptions options;
  } kRuns[] = {{"shadow", {}},
               {"shuffled shadow", {.shuffle = seed | 1, .pipelines = PipelineOrder::kRandom}},
               {"eager shadow", {.pipelines = PipelineOrder::kEager}},
               {"late shadow", {.pipelines = PipelineOrder::kLate}}};
  for (const auto& run : kRuns) {
    if (run.options.shuffle == 0 && run.options.pipelines != PipelineOrder::kInTurn && !pipelined) continue;
    const absl::Status agrees = CheckSymbolic(now, wanted, run.options);
    if (!agrees.ok()) return {run.property, std::string(agrees.message())};
  }
  return CheckThreads(now, seed);
}

bool Overwrites(const Program& program) {
  for (Id buffer = 0; buffer < static_cast<Id>(program.buffers.size()); ++buffer) {
    Region whole;
    for (const Id writer : Writers(program, buffer)) {
      const Region own = WrittenRegion(program, ResolveBindings(program, writer), buffer, kRoot);
      if (!whole.empty() && Contains(whole, own)) return true;
      whole = own;
    }
  }
  return false;
}

void CountProgram(const Program& program, const Program& now, Coverage* coverage) {
  if (coverage == nullptr) return;
  LoopNestSummary nests;
  nests.Read(now);
  bool guard = false, odd = false;
  for (const NestBlock& block : nests.blocks()) {
    guard |= block.guarded != 0;
    for (const NestAccess& access : nests.accesses(block)) guard |= access.within != 0;
  }
  for (const Id block : Blocks(program)) {
    for (const Iter& iter : program.Iters(program.block(block).iters))
      odd |= iter.extent.Known() > 4 && iter.extent.Known() % 2 != 0 && iter.extent.Known() % 3 != 0;
  }
  ++coverage->cases["pairs"];
  bool rings = false, axes = false, prepared = false, swizzled = false, beside = false;
  for (const Id loop : LoopsBelow(now, kRoot)) {
    for (const CarriedBuffer& carried : CarriedBuffers(now, loop))
      beside |= ReadsBeside(now, carried.buffer, loop);
    rings |= !now.Rings(now.loop(loop)).empty();
    axes |= OnAxis(now, loop);
    prepared |= now.nodes[loop].prepare;
  }
  for (const Buffer& buffer : now.buffers) swizzled |= buffer.layout.swizzle.bits != 0;
  coverage->cases["with rings"] += rings;
  coverage->cases["with axes"] += axes;
  coverage->cases["with reads beside what an iteration writes"] += beside;
  coverage->cases["with a prepare phase"] += prepared;
  coverage->cases["with a swizzle"] += swizzled;
  coverage->cases["with buffers that are overwritten"] += Overwrites(program);
  coverage->cases["guard"] += guard;
  coverage->cases["three blocks"] += Blocks(program).size() >= 3;
  coverage->cases["no small factor"] += odd;
  if (FuzzTarget().gpu != nullptr) CountKernels(now, coverage);
}

template <typename Draw>
int64_t RecordedDice::Next(int64_t n, Draw draw) {
  if (next_ == drawn_.size()) drawn_.push_back(others_ == nullptr ? 0 : draw());
  drawn_[next_] = std::min(drawn_[next_], n - 1);
  return drawn_[next_++];
}

int RecordedDice::Pick(absl::Span<const double> weights) {
  return static_cast<int>(Next(static_cast<int64_t>(weights.size()), [&] { return others_->Pick(weights); }));
}
int64_t RecordedDice::Below(int64_t n) {
  return Next(n, [&] { return others_->Below(n); });
}
bool RecordedDice::Flip(double p) {
  return Next(2, [&] { return others_->Flip(p) ? 1 : 0; }) != 0;
}

Program DrawProgram(uint64_t seed, std::vector<int64_t>* dice) {
  RandomDice random(Engine({seed, 1}));
  RecordedDice recorded({}, &random);
  Program program = RandomProgram(recorded, {.types = true});
  if (dice != nullptr) *dice = recorded.drawn();
  return program;
}

// Returns the primitives that a trace draws more often, for a number below 8. 0 and 1: those that lead to pipelines
// (loops in which one child writes what another reads). 2: those that change layouts of buffers. 3: those that make
// kernels. Otherwise none.
absl::Span<const Primitive* const> Theme(int64_t number) {
  static const std::vector<const Primitive*> kOverlap{
      FindPrimitive("merge"),         FindPrimitive("compute-at"), FindPrimitive("reverse-compute-at"),
      FindPrimitive("accumulate-at"), FindPrimitive("pipeline"),   FindPrimitive("pipeline")},
      kLayouts{FindPrimitive("cache-write"), FindPrimitive("transform-layout")},
      kKernels{FindPrimitive("bind"),       FindPrimitive("bind"),       FindPrimitive("set-scope"),
               FindPrimitive("cache-read"), FindPrimitive("compute-at"), FindPrimitive("cooperative-fetch"),
               FindPrimitive("pipeline"),   FindPrimitive("bind-rest")};
  if (number < 2) return kOverlap;
  if (number < 3) return kLayouts;
  return number < 4 ? absl::MakeConstSpan(kKernels) : absl::Span<const Primitive* const>();
}

Session DrawTrace(const Program& program, uint64_t seed, int trace, Coverage* coverage,
                  absl::Span<const Primitive* const> favored) {
  RandomDice dice(Engine({seed, 2, static_cast<uint64_t>(trace)}));
  if (favored.empty()) favored = Theme(dice.Below(8));
  Session session(program, coverage);
  const int64_t tries = 1 + dice.Below(kTries);
  for (int64_t i = 0; i < tries && !session.broken(); ++i) {
    session.LookUp(dice);
    session.Try(RandomStep(session.state(), session.trace().steps, true, dice, favored), dice);
  }
  return session;
}

Session DrawTraceOf(const std::vector<Sketch>& sketches, const Program& program, uint64_t seed, int trace,
                    Coverage* coverage) {
  RandomDice dice(Engine({seed, 7, static_cast<uint64_t>(trace)}));
  Trace sketch = sketches[dice.Below(static_cast<int64_t>(sketches.size()))].trace;
  for (Step& step : sketch.steps) step.decision.clear();
  return Rerun(sketch, program, {}, dice, coverage);
}

std::vector<Outcome> RunSeed(uint64_t seed, int traces, Coverage* coverage,
                             absl::Span<const Primitive* const> favored, const SpaceFunction& space) {
  std::vector<int64_t> drawn;
  const Program program = DrawProgram(seed, &drawn);
  std::vector<Outcome> outcomes;
  const auto finish = [&](const Trace& trace, const Broken& broken, const Program& after) {
    outcomes.push_back({{seed, drawn, program, trace}, broken, after});
  };
  const absl::StatusOr<SymbolicOutputs> wanted = RunSymbolic(program);
  if (!wanted.ok()) {
    finish({}, {"original", std::string(wanted.status().message())}, program);
    return outcomes;
  }
  absl::StatusOr<Enumeration> enumeration;
  if (space) {
    enumeration = Enumerate(space, program, FuzzTarget());
    const absl::Status made = !enumeration.ok()               ? enumeration.status()
                              : enumeration->sketches.empty() ? enumeration->dropped[0].reason
                                                              : absl::OkStatus();
    if (!made.ok()) {
      finish({}, {"space", std::string(made.message())}, program);
      return outcomes;
    }
  }
  for (int t = 0; t < traces; ++t) {
    const Session session = space ? DrawTraceOf(enumeration->sketches, program, seed, t, coverage)
                            : FuzzTarget().gpu != nullptr ? DrawKernels(program, seed, t, coverage, favored)
                                                          : DrawTrace(program, seed, t, coverage, favored);
    const Program& now = session.state().program;
    finish(session.trace(),
           session.broken() ? session.broken() : CheckEnd(program, *wanted, session, seed, coverage), now);
    CountProgram(program, now, coverage);
  }
  return outcomes;
}

Outcome Check(const Case& given, const std::vector<bool>& skip) {
  RandomDice dice(Engine({given.seed, 3}));
  Outcome outcome;
  outcome.made = given;
  const absl::StatusOr<SymbolicOutputs> wanted = RunSymbolic(given.program);
  if (!wanted.ok()) {
    outcome.made.trace = {};
    outcome.broken = {"original", std::string(wanted.status().message())};
    return outcome;
  }
  const Session session = Rerun(given.trace, given.program, skip, dice);
  outcome.made.trace = session.trace();
  outcome.after = session.state().program;
  outcome.broken =
      session.broken() ? session.broken() : CheckEnd(given.program, *wanted, session, given.seed, nullptr);
  return outcome;
}

std::string ToString(const Case& c) {
  return absl::StrCat("# seed ", c.seed, "\n", kiln::ToString(c.program), Print(c.trace));
}

absl::StatusOr<Case> ParseCase(absl::string_view text) {
  const size_t at = text.find(kTraceBegins);
  if (at == absl::string_view::npos) return absl::InvalidArgumentError("there is no \"kiln.trace v2\"");
  Case c;
  const absl::StatusOr<Program> program = ParseProgram(text.substr(0, at));
  if (!program.ok()) return program.status();
  const absl::StatusOr<Trace> trace = ParseTrace(text.substr(at));
  if (!trace.ok()) return trace.status();
  c.program = *program;
  c.trace = *trace;
  return c;
}

}  // namespace kiln::fuzz
