// Checks constants of a target (lang/target/cost_table.h): is half or twice the value better on this machine?
//
//   constants_bench [--factor 2] [--trials 24] [--seed 0] [--results FILE] [--commit ID] [CONSTANT]...
//
// constants_bench.h says how each constant is checked:
//
//   traces     Draws random traces of the default space. Of each operator, those that the roofline ranks first
//              are timed (two of a sketch at most), and those that take at most twice as long as the fastest stay.
//              They are replayed and compiled with the changed value. If the object differs, the two race.
//   searches   Tunes the operators with the changed value and with the usual one, same seed and trials. The two
//              winners race. An operator is left out if random draws are the same with both values.
//   code       Counts the instructions that a vector function or a gather adds to a loop, for a register of
//              lanes, and races the loop against one that adds a number.
//
// Prints and appends a line of JSON for each constant and changed value. "ratio" is the geometric mean of changed
// over usual seconds of the programs that "raced": above 1 the usual value is better. "interval" is the mean plus
// and minus twice its standard error, for three programs or more. "least" and "most" are the extreme ratios.
#include "bench/constants_bench.h"

#include <algorithm>
#include <cmath>
#include <iostream>
#include <map>

#include "backends/builder/compile.h"
#include "backends/cpu/targets.h"
#include "backends/measure/kernel.h"
#include "backends/vendor/paired_timing.h"
#include "bench/random_candidates.h"
#include "bench/searches.h"
#include "bench/support/command_line.h"
#include "bench/support/json_results.h"
#include "lang/text/hash.h"
#include "search/cost/models.h"
#include "search/database/memory_store.h"
#include "testing/compiled/run_program.h"
#include "testing/scheduled.h"

namespace kiln {
namespace {

constexpr int kDraws = 256, kTimed = 16;  // traces of an operator that are drawn, and that are timed
constexpr double kFarBehind = 2;          // traces slower than this factor times the fastest are left out
constexpr int kMostRaces = 24;            // races for one changed value
constexpr int kRuns = 15;                 // runs of each program of a race
constexpr double kSecondsOfRace = 0.15;   // a race ends early after this time
constexpr int kSameDraws = 32;            // a space counts as unchanged if this many draws are the same

struct Code {
  Program program;
  ObjectCode object;
  BuildResult built;  // has no shared object yet
};

Code Compile(Program program, const CostTable& costs) {
  MachineTarget machine = Host();
  machine.costs = costs;
  program.name = "kernel";
  auto module = Lower(program, Context(), LoweringFor(machine)).value();
  BuildResult built;
  built.has_prepare = EntryPoints(program).size() > 1;
  const auto types = module->lookupSymbol<mlir::func::FuncOp>(program.name).getArgumentTypes();
  for (const mlir::Type type : llvm::drop_begin(types, program.parameters.size()))
    built.prepared.push_back({"f32", mlir::cast<mlir::MemRefType>(type).getNumElements()});
  auto object = Codegen::Create(machine).value()->Compile(*module, CodegenFor(program)).value();
  built.takes_threads = object.takes_threads;
  return {std::move(program), std::move(object), std::move(built)};
}

// Runs the programs in turns, `runs` times or until all runs together took `seconds`.
RunResult InTurns(const Program& original, std::vector<Code> codes, int runs, double seconds = 0) {
  RunRequest request;
  for (Code& code : codes) {
    code.built.outputs = {LinkKernel(code.program, code.object).value()};
    request.peers.push_back(
        KernelOf(code.program, code.built, "kernel", TolerancesOf(original), RangesOf(original)));
  }
  request.kernel = request.peers.front();
  request.peers.erase(request.peers.begin());
  request.timing.runs = runs;
  request.timing.enough_seconds = seconds;
  request.limits.seconds = 120;
  return RunAlone(std::move(request)).value();
}

double Race(const Program& original, const Code& changed, const Code& usual) {
  const RunResult ran = InTurns(original, {changed, usual}, kRuns, kSecondsOfRace);
  return RatioOf(ran.seconds, ran.peer_seconds[0]).median;
}

using Ratios = std::vector<std::pair<double, std::string>>;  // with the operator

Json Summary(const Ratios& ratios) {
  Json summary = {{"raced", ratios.size()}};
  if (ratios.empty()) return summary;
  const auto n = static_cast<double>(ratios.size());
  double mean = 0, squares = 0;
  for (const auto& [ratio, name] : ratios) mean += std::log(ratio) / n;
  for (const auto& [ratio, name] : ratios) squares += std::pow(std::log(ratio) - mean, 2);
  summary["ratio"] = std::exp(mean);
  const double twice = 2 * std::sqrt(squares / (n - 1) / n);
  if (n >= 3) summary["interval"] = {std::exp(mean - twice), std::exp(mean + twice)};
  const auto [least, most] = std::minmax_element(ratios.begin(), ratios.end());
  summary["least"] = {least->first, least->second};
  summary["most"] = {most->first, most->second};
  return summary;
}

class Bench {
 public:
  int trials = 24;    // trials of a search
  uint64_t seed = 0;  // seed of draws and searches

  Json Of(const ConstantCheck& check, const CostTable& costs) {
    if (check.how == How::kCode) return OfCode(check.constant);
    return check.how == How::kTraces ? OfTraces(costs) : OfSearches(check.operators, costs);
  }

 private:
  struct Drawn {
    std::string name;
    Program original;
    Trace trace;
    Code usual;
  };

  std::vector<Drawn> TracesOf(const Operator& of) const {
    RandomCandidates candidates(of.Task({}), target_);
    std::vector<Point> points;
    FeatureBatch features;
    for (uint64_t i = 0; i < kDraws; ++i) {
      points.push_back(candidates.Draw(seed * kDraws + i));
      features.Append(points.back().features);
    }
    const std::vector<double> scores = MakeCostModel("roofline").value()->Predict(features).value();
    std::multimap<double, const Point*, std::greater<>> best_first;
    for (size_t i = 0; i < points.size(); ++i) best_first.emplace(scores[i], &points[i]);
    std::map<int, int> of_sketch;
    std::vector<Drawn> drawn;
    for (const auto& [score, point] : best_first) {
      if (drawn.size() == kTimed || ++of_sketch[point->sketch] > 2) continue;
      const Replayed& replayed = point->replayed;
      drawn.push_back({of.name, candidates.original(), WithDecisions(replayed),
                       Compile(replayed.program(), target_.costs)});
    }
    std::vector<Code> codes;
    for (const Drawn& one : drawn) codes.push_back(one.usual);
    const RunResult ran = InTurns(candidates.original(), codes, 3);
    std::vector<double> seconds = {MedianOf(ran.seconds).median};
    for (const auto& peer : ran.peer_seconds) seconds.push_back(MedianOf(peer).median);
    std::vector<Drawn> fast;
    for (size_t i = 0; i < drawn.size(); ++i) {
      if (seconds[i] <= kFarBehind * *std::min_element(seconds.begin(), seconds.end()))
        fast.push_back(std::move(drawn[i]));
    }
    return fast;
  }

  const std::vector<Drawn>& Traces() {
    if (!traces_.empty()) return traces_;
    for (const Operator& of : OperatorsOfTraces())
      for (Drawn& drawn : TracesOf(of)) traces_.push_back(std::move(drawn));
    return traces_;
  }

  Json OfTraces(const CostTable& costs) {
    Target target = target_;
    target.costs = costs;
    std::vector<std::pair<const Drawn*, Code>> differ;
    for (const Drawn& drawn : Traces()) {
      Code changed = Compile(Replay(drawn.trace, drawn.original, target).value().program(), costs);
      if (changed.object.bytes != drawn.usual.object.bytes) differ.emplace_back(&drawn, std::move(changed));
    }
    Ratios ratios;
    const size_t step = differ.size() / kMostRaces + 1;
    for (size_t i = 0; i < differ.size(); i += step) {
      const auto& [drawn, changed] = differ[i];
      ratios.emplace_back(Race(drawn->original, changed, drawn->usual), drawn->name);
    }
    Json result = {{"programs", Traces().size()}, {"differ", differ.size()}};
    result.update(Summary(ratios));
    return result;
  }

  // Returns the winner of a search with these costs, compiled with the default costs.
  Code Winner(const Operator& of, const CostTable& costs) {
    if (!machine_) machine_ = Machine::Cpu();
    Target target = machine_->target;
    target.costs = costs;
    const auto store = MakeMemoryStore();
    TuneOptions options;
    options.trials = trials;
    options.seed = seed;
    const auto tuned = Tune({{of.name, of.Task(costs)}}, ParseSpace(DefaultSpace(target)).value(), target,
                            options, *machine_->measurer, *store);
    return Compile(tuned.value().front().program, target_.costs);
  }

  bool SameSpace(const Operator& of, const CostTable& costs) const {
    Target changed = target_;
    changed.costs = costs;
    RandomCandidates usual(of.Task(target_.costs), target_), other(of.Task(costs), changed);
    for (uint64_t i = 0; i < kSameDraws; ++i) {
      if (!Equal(usual.Draw(i).replayed.program(), other.Draw(i).replayed.program())) return false;
    }
    return true;
  }

  Json OfSearches(const std::vector<Operator>& operators, const CostTable& costs) {
    Ratios ratios;
    for (const Operator& of : operators) {
      if (SameSpace(of, costs)) continue;
      auto usual = winners_.find(of.name);
      if (usual == winners_.end()) usual = winners_.emplace(of.name, Winner(of, target_.costs)).first;
      ratios.emplace_back(Race(of.Task({}), Winner(of, costs), usual->second), of.name);
    }
    Json result = {{"programs", operators.size()}, {"differ", ratios.size()}, {"trials", trials}};
    result.update(Summary(ratios));
    return result;
  }

  // Returns a loop over 4,096 elements, a register of lanes at a time: y = sinh(x) for "call-instructions", y = x[at]
  // for "gather-instructions", otherwise y = x + 1.
  Program Loop(absl::string_view what) const {
    Builder b("loop");
    const Id X = b.Input("X", DType::kF32, {4096}), at = b.Input("at", DType::kI32, {4096}),
             Y = b.Output("Y", DType::kF32, {4096});
    const IndexSum i = b.Iter(0);
    const Id x = b.Load(X, {i});
    b.Compute("loop", {{"i", 4096}}, {Y, {i}},
              what == "call-instructions"     ? b.Make(Op::kSinh, DType::kF32, x)
              : what == "gather-instructions" ? b.Gather(X, {b.Cast(DType::kIndex, b.Load(at, {i}))})
                                              : b.Add(x, b.Float(DType::kF32, 1)));
    Schedule s = Scheduled(b.Finish(), target_);
    s.Vectorize(s.Split(s.GetLoops(s.GetBlock("loop"))[0], {kAuto, target_.vector_bytes / 4})[1]);
    KILN_CHECK(s.ok(), s.status().ToString());
    return s.program();
  }

  int64_t InstructionsOf(const Program& program) const {
    const auto module = Lower(program, Context(), LoweringFor(Host())).value();
    const std::string text =
        Codegen::Create(Host()).value()->Text(*module, CodegenFor(program), Stage::kAssembly).value();
    int64_t count = 0;
    for (const absl::string_view line : absl::StrSplit(text, '\n'))
      count += line.size() > 1 && line[0] == '\t' && absl::ascii_islower(line[1]);
    return count;
  }

  Json OfCode(absl::string_view constant) const {
    const Program of = Loop(constant), add = Loop("add");
    return {{"instructions", InstructionsOf(of) - InstructionsOf(add) + 1},
            {"time_over_add", Race(add, Compile(of, target_.costs), Compile(add, target_.costs))}};
  }

  const Target target_ = CpuTarget();
  std::vector<Drawn> traces_;
  std::map<std::string, Code> winners_;
  std::optional<Machine> machine_;
};

int Main(int argc, char** argv) {
  Bench bench;
  double factor = 2;
  std::vector<std::string> wanted, names;
  std::string results, commit;
  const std::vector<ConstantCheck> checks = Checks();
  for (const ConstantCheck& check : checks) names.push_back(check.constant);
  CommandLine line("constants_bench", "Whether other values of a target's constants are better");
  line.Add("--factor", &factor, "", {.least = 1.1, .most = 100.0});
  line.Add("--trials", &bench.trials, "Of a search", {.least = 1});
  line.Add("--seed", &bench.seed, "Of draws and searches");
  line.Add("--results", &results, "Lines of JSON, appended");
  line.Add("--commit", &commit, "Stored with results");
  line.Add("CONSTANT", &wanted, "All by default", {.names = names});
  if (const auto exit_code = line.Parse(argc, argv)) return *exit_code;
  for (const ConstantCheck& check : checks) {
    if (!wanted.empty() && std::find(wanted.begin(), wanted.end(), check.constant) == wanted.end()) continue;
    const CostRow& row = *std::find_if(CostRows().begin(), CostRows().end(),
                                       [&](const CostRow& r) { return r.name == check.constant; });
    const double value = row.ValueIn({});
    std::vector<double> others = {std::min(value - 1, std::floor(value / factor)),
                                  std::max(value + 1, std::ceil(value * factor))};
    if (check.how == How::kCode) others = {value};
    for (const double other : others) {
      CostTable costs = CpuTarget().costs;
      row.SetIn(costs, other);
      Json result = {{"constant", check.constant}, {"value", value}, {"changed", other}};
      result.update(bench.Of(check, costs));
      std::cout << result << std::endl;
      result.update(Json{{"seed", bench.seed}, {"machine", Host().fingerprint}, {"commit", commit}});
      if (!results.empty()) AppendResult(result, results);
    }
  }
  return 0;
}

}  // namespace
}  // namespace kiln

int main(int argc, char** argv) { return kiln::Main(argc, argv); }
