// What each part of the search is worth, on the simulated machine:
//
//   ablation_bench [--trials 256] [--seeds 30] [--results bench/results/ablation.json] [VARIANT]...
//
// The default space of an AVX2 machine over three programs is searched by the default strategy, by it without
// one of its parts, and by other strategies. Each search appends a line of JSON: what was best after which
// trial. A line that is there already is not made again, so the same command goes on where it was stopped.
// Then, for each variant over the seeds that all have: the geometric mean of the latency found by that of the
// default, and the trials (geometric mean; a search that never arrives counts as all of them) to 95% of the
// best known.
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>

#include "CLI/CLI.hpp"
#include "absl/strings/str_cat.h"
#include "bench/default_spaces.h"
#include "nlohmann/json.hpp"
#include "search/cost/random_model.h"
#include "search/database/memory_store.h"
#include "search/simulated_machine.h"
#include "search/tune.h"

namespace kiln {
namespace {

using Json = nlohmann::ordered_json;

struct Variant {
  const char* name;
  void (*change)(TuneOptions&);
};

constexpr double kWarm = 1;  // the temperature of a population that is not annealed

const Variant kVariants[] = {
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

Program Dense() { return ImportFile("tests/inputs/ops/torch_dense_bias_gelu.mlir").value().program; }
Program Convolution() {
  return ImportFile("tests/inputs/ops/torch_conv2d_nchw_3x3_bias.mlir").value().program;
}

const std::pair<const char*, Program (*)()> kPrograms[] = {
    {"matmul_1024", [] { return Matmul(1024, 1024, 1024); }},
    {"conv2d_3x3", Convolution},
    {"dense_gelu", Dense}};

std::string KeyOf(const Json& line) {
  return absl::StrCat(line["program"].get<std::string>(), " ", line["variant"].get<std::string>(), " ",
                      line["seed"].get<int>(), " ", line["trials"].get<int>());
}

Json Search(const Program& program, const Variant& variant, Json line) {
  Target target;
  SimulatedMachine machine(target);
  TuneOptions options;
  options.trials = line["trials"].get<int>();
  options.seed = line["seed"].get<uint64_t>();
  options.finalists = 0;
  variant.change(options);
  const auto store = MakeMemoryStore();
  const Space space = ParseSpace(DefaultSpace(target)).value();
  KILN_CHECK(Tune({{"task", program, 0}}, space, target, options, machine, *store).ok());
  double best = std::numeric_limits<double>::infinity();
  line["best"] = Json::array();
  const StoreContents contents = store->ReadAll().value();
  for (const RecordRow& record : contents.records) {
    if (!CanBeBest(record) || Seconds(record) >= best) continue;
    best = Seconds(record);
    line["best"].push_back({record.trial + 1, best});
  }
  return line;
}

double Last(const Json& line) { return line["best"].back()[1].get<double>(); }

void Report(const std::vector<Json>& lines, int trials) {
  std::map<std::string, double> known;
  std::map<std::string, std::map<std::pair<std::string, int>, const Json*>> by_variant;
  for (const Json& line : lines) {
    if (line["trials"] != trials || line["best"].empty()) continue;
    const std::string program = line["program"];
    const auto [best, fresh] = known.try_emplace(program, Last(line));
    if (!fresh) best->second = std::min(best->second, Last(line));
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
      ratio += std::log(Last(*line) / Last(*same->second));
      double reached = 2.0 * trials;
      for (const Json& step : (*line)["best"]) {
        if (step[1].get<double>() * 0.95 > known[key.first]) continue;
        reached = step[0].get<double>();
        break;
      }
      arrival += std::log(reached);
    }
    if (count > 0)
      std::printf("%-20s %8d %10.3f %12.1f\n", variant.c_str(), count, std::exp(ratio / count),
                  std::exp(arrival / count));
  }
}

int Main(int argc, char** argv) {
  int trials = 256, seeds = 30;
  std::string results = "bench/results/ablation.json";
  std::vector<std::string> wanted;
  CLI::App app("Parts of the search on the simulated machine", "ablation_bench");
  app.add_option("--trials", trials, "Candidates of each search")->capture_default_str();
  app.add_option("--seeds", seeds, "Searches of each variant and program; 0: only report")
      ->capture_default_str();
  app.add_option("--results", results, "Lines of JSON, to which results are appended")->capture_default_str();
  app.add_option("VARIANT", wanted, "Of which searches are made; all by default");
  CLI11_PARSE(app, argc, argv);

  std::vector<Json> lines;
  std::set<std::string> done;
  std::ifstream in(results);
  for (std::string text; std::getline(in, text);) {
    lines.push_back(Json::parse(text, nullptr, false));
    if (lines.back().is_discarded()) {
      lines.pop_back();  // cut off in the middle
    } else {
      done.insert(KeyOf(lines.back()));
    }
  }
  for (int seed = 0; seed < seeds; ++seed) {
    for (const auto& [name, make] : kPrograms) {
      const Program program = make();
      for (const Variant& variant : kVariants) {
        if (!wanted.empty() && std::find(wanted.begin(), wanted.end(), variant.name) == wanted.end())
          continue;
        const Json key = {{"program", name}, {"variant", variant.name}, {"seed", seed}, {"trials", trials}};
        if (!done.insert(KeyOf(key)).second) continue;
        lines.push_back(Search(program, variant, key));
        std::ofstream(results, std::ios::app) << lines.back().dump() << std::endl;
      }
    }
  }
  Report(lines, trials);
  return 0;
}

}  // namespace
}  // namespace kiln

int main(int argc, char** argv) { return kiln::Main(argc, argv); }
