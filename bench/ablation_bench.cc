// Measures what each part of the search contributes, on the simulated machine or, with --cpu, on this CPU:
//
//   ablation_bench [--cpu] [--trials 256] [--seeds 30] [--results bench/results/ablation.json] [VARIANT]...
//   ablation_bench --cpu --without all [--operators RL23,SFM1] [--trials 256] [--seeds 3]
//
// The second form tunes operators of bench/operators with all special policies (docs/reference/policies.md),
// and without each of the named ones. The simulated machine does not see policies of lowering.
//
// The first form tunes three programs in the default space: with the default strategy, with one part of it removed or
// changed, and with other strategies. Each search appends a line of JSON: the trials that improved the best latency,
// and that latency. Lines that exist are not computed again, so the same command resumes. The summary compares each
// variant with the default over the same seeds: the geometric mean of the ratio of latencies, and the trials (geometric
// mean) to reach 95% of the best known speed. A search that never gets there counts with twice the budget.
#include <cmath>
#include <cstdio>
#include <map>

#include "absl/strings/str_split.h"
#include "backends/import/import.h"
#include "bench/searches.h"
#include "bench/support/command_line.h"
#include "lang/graph/outline.h"
#include "search/cost/random_model.h"
#include "search/database/memory_store.h"
#include "testing/matmul.h"

namespace kiln {
namespace {

struct Variant {
  std::string name;
  std::function<void(TuneOptions&)> change;
  Policies policies = {};
};

constexpr double kWarm = 1;  // the temperature of a population without annealing

const std::vector<Variant> kVariants = {
    {"default", [](TuneOptions&) {}},
    {"no-model",
     [](TuneOptions& o) {
       o.model = [seed = o.seed](int) -> absl::StatusOr<std::unique_ptr<CostModel>> {
         return std::make_unique<RandomModel>(seed);
       };
     }},
    {"no-anneal", [](TuneOptions& o) { o.search.population.start = o.search.population.floor = kWarm; }},
    {"no-resample", [](TuneOptions& o) { o.search.population.resample = false; }},
    {"no-sketch-moves", [](TuneOptions& o) { o.search.population.structure = 0; }},
    {"no-descent", [](TuneOptions& o) { o.search.descent = 0; }},
    {"no-neighbours", [](TuneOptions& o) { o.search.neighbour_share = 0; }},
    {"few-restarts",
     [](TuneOptions& o) {
       o.search.population.from_best = 0.0625;
       o.search.population.from_prior = 0.125;
     }},
    {"quarter-restarts",
     [](TuneOptions& o) { o.search.population.from_best = o.search.population.from_prior = 0.25; }},
    {"from-one", [](TuneOptions& o) { o.search.population.start = 1; }},
    {"colder", [](TuneOptions& o) { o.search.population.floor = 0.05; }},
    {"no-scouts", [](TuneOptions& o) { o.search.scouts = 1; }},
    {"less-prior", [](TuneOptions& o) { o.search.random_share = 0.05; }},
    {"random", [](TuneOptions& o) { o.strategy = "random"; }},
    {"genetic", [](TuneOptions& o) { o.strategy = "genetic"; }},
    {"simulated-annealing", [](TuneOptions& o) { o.strategy = "simulated-annealing"; }},
};

// Returns the default variant, and a variant for each of these policies ("all": every one) with that policy switched.
// kInvalidArgument for an unknown name.
absl::StatusOr<std::vector<Variant>> WithoutEach(const std::string& names) {
  const absl::StatusOr<Policies> named = Policies::Without(names == "all" ? "" : names);
  if (!named.ok()) return named.status();
  std::vector<Variant> variants = {kVariants.front()};
  for (const PolicyRow& row : PolicyRows()) {
    if (names != "all" && !named->IsSwitched(row.policy)) continue;
    variants.push_back(
        {absl::StrCat(row.on_request ? "with " : "without ", row.name), variants.front().change});
    variants.back().policies.Switch(row.policy);
  }
  return variants;
}

Program Imported(const std::string& file) { return ImportFile(file).value().program; }

// A function that makes a program under the given policies, because policies of the import may change the program.
using Make = std::function<Program(const Policies&)>;
using Programs = std::vector<std::pair<std::string, Make>>;

std::string FileOf(const std::string& name) { return absl::StrCat("bench/operators/", name, ".mlir"); }

Make Always(Program program) {
  return [program = std::move(program)](const Policies&) { return program; };
}

Programs ProgramsOf(bool cpu) {
  if (cpu) {
    Programs programs;
    for (const char* name : {"GMM0", "C2D2", "GRP0"})
      programs.emplace_back(name, Always(Imported(FileOf(name))));
    return programs;
  }
  return {{"matmul_1024", Always(Matmul(1024, 1024, 1024))},
          {"conv2d_3x3", Always(Imported("tests/inputs/ops/torch_conv2d_nchw_3x3_bias.mlir"))},
          {"dense_gelu", Always(Imported("tests/inputs/ops/torch_dense_bias_gelu.mlir"))}};
}

// Returns for each name the program of bench/operators/NAME.mlir: its first task under the given policies.
Programs Operators(const std::string& names) {
  Programs programs;
  for (const std::string& name : std::vector<std::string>(absl::StrSplit(names, ',', absl::SkipEmpty())))
    programs.emplace_back(name, [program = Imported(FileOf(name))](const Policies& policies) {
      return ExtractTasks(program, policies).value().front().program;
    });
  return programs;
}

// Starts the machine that is asked for, and keeps only one at a time, because the workers of two would disturb each
// other's timings.
class Machines {
 public:
  explicit Machines(bool cpu) : cpu_(cpu) {}
  const Machine& With(const Policies& policies) {
    if (machine_ && policies == policies_) return *machine_;
    machine_.reset();
    machine_ = cpu_ ? Machine::Cpu(policies) : Machine::Simulated({}, policies);
    policies_ = policies;
    return *machine_;
  }

 private:
  const bool cpu_;
  Policies policies_;
  std::optional<Machine> machine_;  // started on first use; reading stored results needs no machine
};

Json Search(const std::string& name, const Program& program, const Variant& variant, const Machine& machine,
            Json line) {
  TuneOptions options;
  options.trials = line["trials"].get<int>();
  options.seed = line["seed"].get<uint64_t>();
  variant.change(options);
  const auto store = MakeMemoryStore();
  line["best"] = BestSoFar(Searched(name, program, machine, options, *store));
  return line;
}

void Report(const std::vector<Json>& lines, int trials) {
  std::map<std::string, double> known;
  std::map<std::string, std::map<std::pair<std::string, int>, const Json*>> by_variant;
  for (const Json& line : lines) {
    if (line["trials"] != trials || line["best"].empty()) continue;
    const std::string program = line["program"];
    double& best = known.try_emplace(program, LastSeconds(line)).first->second;
    best = std::min(best, LastSeconds(line));
    by_variant[line["variant"]][{program, line["seed"].get<int>()}] = &line;
  }
  std::printf("%-20s %8s %10s %12s\n", "variant", "searches", "latency", "trials to 95%");
  for (const auto& [variant, searches] : by_variant) {
    double ratio = 0, arrival = 0;
    int count = 0;
    for (const auto& [key, line] : searches) {
      const auto& defaults = by_variant["default"];
      const auto same = defaults.find(key);
      if (same == defaults.end()) continue;
      ++count;
      ratio += std::log(LastSeconds(*line) / LastSeconds(*same->second));
      arrival += std::log(TrialsTo(0.95, *line, known[key.first]));
    }
    if (count > 0)
      std::printf("%-20s %8d %10.3f %12.1f\n", variant.c_str(), count, std::exp(ratio / count),
                  std::exp(arrival / count));
  }
}

int Main(int argc, char** argv) {
  bool cpu = false;
  int trials = 256, seeds = 30;
  std::string results, without, operators = "GMM0,C2D2,R23,RL9,RL23,GRP0,GRPL1,DEP0,T2D0,SFM1,SFM3,NRM0";
  std::vector<std::string> wanted;
  CommandLine line("ablation_bench", "What each part of the search is worth");
  line.Add("--cpu", &cpu, "GMM0, C2D2 and GRP0 on this machine, instead of the simulated one");
  line.Add("--trials", &trials, "Candidates of each search");
  line.Add("--seeds", &seeds, "Searches of each variant and program; 0: only report");
  line.Add("--results", &results,
           "Lines of JSON, to which results are appended; by default bench/results/ablation.json, with "
           "--without policies.json, and with --cpu ablation-cpu.json or policies-cpu.json");
  std::vector<std::string> variants;
  for (const Variant& variant : kVariants) variants.push_back(variant.name);
  line.Add("VARIANT", &wanted, "Of which searches are made; all by default", {.names = variants});
  line.Add("--without", &without,
           "Policies, with commas between, each of which is switched alone; \"all\" for all");
  line.Add("--operators", &operators, "With --without: what is searched, of bench/operators");
  if (const auto exit_code = line.Parse(argc, argv)) return *exit_code;
  const absl::StatusOr<std::vector<Variant>> searched = without.empty() ? kVariants : WithoutEach(without);
  if (!searched.ok()) {
    std::fprintf(stderr, "ablation_bench: %s\n", std::string(searched.status().message()).c_str());
    return 1;
  }
  if (results.empty())
    results =
        absl::StrCat("bench/results/", without.empty() ? "ablation" : "policies", cpu ? "-cpu" : "", ".json");
  Machines machines(cpu);
  const Programs programs = without.empty() ? ProgramsOf(cpu) : Operators(operators);
  std::vector<Json> lines = ReadResults(results);
  for (int seed = 0; seed < seeds; ++seed) {
    for (const auto& [name, make] : programs) {
      for (const Variant& variant : *searched) {
        if (!wanted.empty() && std::find(wanted.begin(), wanted.end(), variant.name) == wanted.end())
          continue;
        const Json key = {{"program", name}, {"variant", variant.name}, {"seed", seed}, {"trials", trials}};
        if (FindResult(key, lines)) continue;
        const Machine& machine = machines.With(variant.policies);
        lines.push_back(Search(name, make(variant.policies), variant, machine, key));
        AppendResult(lines.back(), results);
      }
    }
  }
  Report(lines, trials);
  return 0;
}

}  // namespace
}  // namespace kiln

int main(int argc, char** argv) { return kiln::Main(argc, argv); }
