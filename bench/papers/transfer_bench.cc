// Transfer from one set of operators to another (AutoTVM, Fig. 8): how many trials a search saves that begins
// with a global model of C1 .. C6 when it tunes C7, C8 and C9.
//
//   transfer_bench [FOLDER [SOURCE_TRIALS [TRIALS [SEEDS [TARGETS]]]]]     build/papers/transfer 512 256 10
//   C7,C8,C9 transfer_bench --cpu ...                                               on this CPU and not the
//   simulated machine
//
// Run it from the root of the sources. FOLDER keeps the records of the sources (source.db) and a line of JSON
// for each search (runs.jsonl); typed again it goes on. It ends with bench/results/transfer-MACHINE.json: for
// each model the trials to 95% of the best that any search of the operator has found (twice the budget where
// a search never got there), as geometric means over operators and seeds.
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <map>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "backends/cpu/measurer.h"
#include "backends/import/import.h"
#include "lang/check.h"
#include "modules/space.h"
#include "nlohmann/json.hpp"
#include "search/database/memory_store.h"
#include "search/database/sqlite_store.h"
#include "search/global_model.h"
#include "search/simulated_machine.h"
#include "search/tune.h"

namespace kiln {
namespace {

using Json = nlohmann::ordered_json;

constexpr double kGoodEnough = 0.95;
const char* const kModels[] = {"trees-alone", "trees", "transfer", "transfer-rank", "transfer-context"};

struct Experiment {
  std::string folder = "build/papers/transfer";
  int source_trials = 512, trials = 256, seeds = 10;
  std::vector<std::string> sources = {"C1", "C2", "C3", "C4", "C5", "C6"}, targets = {"C7", "C8", "C9"};
  bool cpu = false;
};

class Transfer {
 public:
  Transfer(const Experiment& how, Measurer& measurer, const Target& target)
      : how_(how), measurer_(measurer), target_(target) {}

  void Run() {
    std::filesystem::create_directories(how_.folder);
    const auto store = OpenStore(how_.folder + "/source.db").value();
    for (const std::string& source : how_.sources) {
      if (Done(*store, source)) continue;
      std::fprintf(stderr, "%s: %d records\n", source.c_str(), how_.source_trials);
      Search(source, 1000, how_.source_trials, "trees", *store);
    }
    for (const FeatureKind kind : {FeatureKind::kAnsor, FeatureKind::kContextRelation}) {
      auto global = TrainGlobalModel(store->ReadAll().value(), kind);
      global_[kind] = std::move(global.value().model);
    }
    for (int seed = 0; seed < how_.seeds; ++seed) {
      for (const std::string& target : how_.targets) {
        for (const char* model : kModels) SearchOnce(target, seed, model);
      }
    }
    Summarize();
  }

 private:
  std::string RunsPath() const { return how_.folder + "/runs.jsonl"; }

  std::vector<Json> Runs() const {
    std::vector<Json> runs;
    std::ifstream lines(RunsPath());
    for (std::string line; std::getline(lines, line);) runs.push_back(Json::parse(line));
    return runs;
  }

  bool Done(Store& store, const std::string& name) const {
    const StoreContents contents = store.ReadAll().value();
    for (const WorkloadRow& workload : contents.workloads) {
      if (workload.name != name) continue;
      return std::count_if(contents.records.begin(), contents.records.end(), [&](const RecordRow& record) {
               return record.workload == workload.id && !IsOfRace(record);
             }) >= how_.source_trials;
    }
    return false;
  }

  // Seconds of each trial, in order.
  std::vector<double> Search(const std::string& name, int seed, int trials, const std::string& model,
                             Store& store) {
    const Program program = ImportFile(absl::StrCat("bench/operators/", name, ".mlir")).value().program;
    const std::string text = DefaultSpace(target_);
    TuneOptions options;
    options.trials = trials;
    options.seed = static_cast<uint64_t>(seed);
    options.finalists = 0;
    options.sketches.space = text;
    CostModelOptions of_model;
    if (model == "transfer-context") options.features = of_model.features = FeatureKind::kContextRelation;
    if (model.starts_with("transfer")) of_model.global = global_.at(of_model.features);
    const std::string made = model == "transfer-rank"        ? "trees-rank"
                             : model.starts_with("transfer") ? "trees"
                                                             : model;
    options.model = [&](int) { return MakeCostModel(made, of_model); };
    const auto results =
        Tune({{name, program, 0}}, ParseSpace(text).value(), target_, options, measurer_, store);
    KILN_CHECK(results.ok(), results.status().ToString());
    const StoreContents contents = store.ReadAll().value();
    std::vector<double> seconds;
    for (const RecordRow& record : contents.records) {
      if (!CanBeBest(record)) {
        seconds.push_back(std::numeric_limits<double>::infinity());
        continue;
      }
      seconds.push_back(Seconds(record));
    }
    return seconds;
  }

  void SearchOnce(const std::string& target, int seed, const std::string& model) {
    for (const Json& run : Runs()) {
      if (run["operator"] == target && run["seed"] == seed && run["model"] == model &&
          run["trials"] == how_.trials) {
        return;
      }
    }
    const auto store = MakeMemoryStore();
    Json run{{"operator", target}, {"seed", seed}, {"model", model}, {"trials", how_.trials}};
    Json& best = run["best"] = Json::array();  // [trial, seconds] where it fell
    double least = std::numeric_limits<double>::infinity();
    const std::vector<double> seconds = Search(target, seed, how_.trials, model, *store);
    for (size_t i = 0; i < seconds.size(); ++i) {
      if (seconds[i] < least) best.push_back({i + 1, least = seconds[i]});
    }
    std::ofstream(RunsPath(), std::ios::app) << run.dump() << "\n";
    std::fprintf(stderr, "%s seed %d %s: %.4g us\n", target.c_str(), seed, model.c_str(), least * 1e6);
  }

  void Summarize() const {
    std::map<std::string, double> best_known;
    const std::vector<Json> runs = Runs();
    for (const Json& run : runs) {
      if (run["trials"] != how_.trials || run["best"].empty()) continue;
      double& best =
          best_known.try_emplace(run["operator"], std::numeric_limits<double>::infinity()).first->second;
      best = std::min(best, run["best"].back()[1].get<double>());
    }
    std::map<std::string, std::map<std::string, std::vector<double>>> trials;  // by model and operator
    for (const Json& run : runs) {
      if (run["trials"] != how_.trials) continue;
      double needed = 2.0 * how_.trials;
      for (const Json& at : run["best"]) {
        if (at[1].get<double>() * kGoodEnough > best_known[run["operator"]]) continue;
        needed = at[0].get<double>();
        break;
      }
      trials[run["model"]][run["operator"]].push_back(needed);
    }
    const auto mean = [](const std::vector<double>& values) {
      double logs = 0;
      for (const double v : values) logs += std::log(v);
      return std::exp(logs / static_cast<double>(values.size()));
    };
    Json summary{{"source_trials", how_.source_trials}, {"trials", how_.trials}, {"seeds", how_.seeds}};
    for (const auto& [model, operators] : trials) {
      Json& json = summary["trials_to_95_percent"][model];
      std::vector<double> all;
      for (const auto& [name, values] : operators) {
        json[name] = std::round(mean(values) * 10) / 10;
        all.insert(all.end(), values.begin(), values.end());
      }
      json["all"] = std::round(mean(all) * 10) / 10;
      std::printf("%-18s %6.1f trials to 95%% of the best known\n", model.c_str(), mean(all));
    }
    std::ofstream(absl::StrCat("bench/results/transfer-", how_.cpu ? "cpu" : "simulated", ".json"))
        << summary.dump(1) << "\n";
  }

  const Experiment& how_;
  Measurer& measurer_;
  const Target target_;
  std::map<FeatureKind, std::shared_ptr<const CostModel>> global_;
};

int Main(std::vector<std::string> arguments) {
  Experiment how;
  if (!arguments.empty() && arguments[0] == "--cpu") {
    how.cpu = true;
    how.folder += "-cpu";
    arguments.erase(arguments.begin());
  }
  if (!arguments.empty()) how.folder = arguments[0];
  int* const numbers[] = {&how.source_trials, &how.trials, &how.seeds};
  for (size_t i = 0; i < 3 && i + 1 < arguments.size(); ++i) {
    if (absl::SimpleAtoi(arguments[i + 1], numbers[i]) && *numbers[i] > 0) continue;
    std::fprintf(stderr, "%s is no number\n", arguments[i + 1].c_str());
    return 2;
  }
  if (arguments.size() > 4) how.targets = absl::StrSplit(arguments[4], ',');
  if (how.cpu) {
    auto measurer = CpuMeasurer::Start();
    if (!measurer.ok()) return std::fprintf(stderr, "%s\n", measurer.status().ToString().c_str()), 1;
    Transfer(how, *measurer, measurer->target()).Run();
    return 0;
  }
  Target target;
  target.cores = 1;
  SimulatedMachine machine(target, {.noise = 0});
  Transfer(how, machine, target).Run();
  return 0;
}

}  // namespace
}  // namespace kiln

int main(int argc, char** argv) { return kiln::Main({argv + 1, argv + argc}); }
