// Measures transfer between operators (AutoTVM, Fig. 8): how many trials a search of C7, C8 or C9 saves if it
// starts with a global model of C1 .. C6.
//
//   transfer_bench [--folder FOLDER] [--source-trials 512] [--trials 256] [--seeds 10] [MODEL]...
//
// Runs on the simulated machine; bench/papers/transfer.py does the same on the CPU. Run it from the root of
// the sources. The folder keeps the records of the source operators (source.db) and a line of JSON for each
// search (runs.jsonl), so the same command resumes. The result is bench/results/transfer-simulated.json. For
// each model it has the trials to 95% and 90% of the best speed that any search of the operator found (twice
// the budget if a search never got there), as geometric means over operators and seeds, and how much slower
// than the best the final result is.
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <map>

#include "backends/import/import.h"
#include "bench/searches.h"
#include "bench/support/command_line.h"
#include "search/database/memory_store.h"
#include "search/database/sqlite_store.h"
#include "search/run/global_model.h"

namespace kiln {
namespace {

constexpr const char *kSources[] = {"C1", "C2", "C3", "C4", "C5", "C6"}, *kTargets[] = {"C7", "C8", "C9"};
constexpr const char* kModels[] = {"trees-alone", "trees", "transfer", "transfer-rank", "transfer-context"};

struct Options {
  std::string folder = "build/papers/transfer-simulated";
  int source_trials = 512, trials = 256, seeds = 10;
  std::vector<std::string> models{std::begin(kModels), std::end(kModels)};
};

class Transfer {
 public:
  explicit Transfer(const Options& options) : options_(options) {}

  void Run() {
    std::filesystem::create_directories(options_.folder);
    const auto store = OpenStore(options_.folder + "/source.db").value();
    for (const char* source : kSources) {
      if (Done(*store, source)) continue;
      std::fprintf(stderr, "%s: %d records\n", source, options_.source_trials);
      Search(source, 1000, options_.source_trials, "trees", *store);
    }
    for (const FeatureKind kind : {FeatureKind::kAnsor, FeatureKind::kContextRelation}) {
      auto global = TrainGlobalModel(store->ReadAll().value(), kind);
      global_[kind] = std::move(global.value().model);
    }
    for (int seed = 0; seed < options_.seeds; ++seed) {
      for (const char* target : kTargets) {
        for (const std::string& model : options_.models) SearchOnce(target, seed, model);
      }
    }
    Summarize();
  }

 private:
  std::string RunsPath() const { return options_.folder + "/runs.jsonl"; }

  bool Done(Store& store, const std::string& name) const {
    const StoreContents contents = store.ReadAll().value();
    for (const WorkloadRow& workload : contents.workloads) {
      if (workload.name != name) continue;
      return std::count_if(contents.records.begin(), contents.records.end(), [&](const RecordRow& record) {
               return record.workload == workload.id && !record.flags.race;
             }) >= options_.source_trials;
    }
    return false;
  }

  StoreContents Search(const std::string& name, int seed, int trials, const std::string& model,
                       Store& store) {
    const Program program = ImportFile(absl::StrCat("bench/operators/", name, ".mlir")).value().program;
    TuneOptions options;
    options.trials = trials;
    options.seed = static_cast<uint64_t>(seed);
    CostModelOptions of_model;
    if (model == "transfer-context") options.features = of_model.features = FeatureKind::kContextRelation;
    if (model.starts_with("transfer")) of_model.global = global_.at(of_model.features);
    const std::string made = model == "transfer-rank"        ? "trees-rank"
                             : model.starts_with("transfer") ? "trees"
                                                             : model;
    options.model = [&](int) { return MakeCostModel(made, of_model); };
    return Searched(name, program, machine_, options, store);
  }

  void SearchOnce(const std::string& target, int seed, const std::string& model) {
    Json run{{"operator", target}, {"seed", seed}, {"model", model}, {"trials", options_.trials}};
    if (FindResult(run, RunsPath())) return;
    const auto store = MakeMemoryStore();
    run["best"] = BestSoFar(Search(target, seed, options_.trials, model, *store));
    AppendResult(run, RunsPath());
    std::fprintf(stderr, "%s seed %d %s: %.4g us\n", target.c_str(), seed, model.c_str(),
                 LastSeconds(run) * 1e6);
  }

  void Summarize() const {
    std::map<std::string, double> best_known;
    std::map<std::string, std::map<std::string, std::vector<const Json*>>> by_model;  // by model and operator
    const std::vector<Json> runs = ReadResults(RunsPath());
    for (const Json& run : runs) {
      if (run["trials"] != options_.trials || run["seed"] >= options_.seeds) continue;
      double& best = best_known.try_emplace(run["operator"], LastSeconds(run)).first->second;
      best = std::min(best, LastSeconds(run));
      by_model[run["model"]][run["operator"]].push_back(&run);
    }
    Json summary{{"machine", "simulated"},
                 {"source_trials", options_.source_trials},
                 {"trials", options_.trials},
                 {"seeds", options_.seeds}};
    for (const auto& [model, operators] : by_model) {
      const auto mean = [&, &operators = operators](const std::string& of, auto value) {
        double logs = 0, count = 0;
        for (const auto& [name, searches] : operators) {
          if (!of.empty() && of != name) continue;
          for (const Json* search : searches) logs += std::log(value(*search, best_known[name]));
          count += static_cast<double>(searches.size());
        }
        return std::exp(logs / count);
      };
      std::printf("%-18s", model.c_str());
      for (const int percent : {95, 90}) {
        Json& trials = summary[absl::StrCat("trials_to_", percent, "_percent")][model];
        const auto needed = [&](const Json& search, double best) {
          return TrialsTo(percent / 100.0, search, best);
        };
        for (const auto& [name, searches] : operators)
          trials[name] = std::round(mean(name, needed) * 10) / 10;
        trials["all"] = std::round(mean("", needed) * 10) / 10;
        std::printf("%6.1f trials to %d%% of the best known, ", trials["all"].get<double>(), percent);
      }
      const double slower =
          mean("", [](const Json& search, double best) { return LastSeconds(search) / best; });
      summary["seconds_over_best_known"][model] = slower;
      std::printf("%.3f of its time found\n", slower);
    }
    std::ofstream("bench/results/transfer-simulated.json") << summary.dump(1) << "\n";
  }

  const Options& options_;
  const Machine machine_ = Machine::Simulated({.noise = 0});
  std::map<FeatureKind, std::shared_ptr<const CostModel>> global_;
};

int Main(int argc, char** argv) {
  Options o;
  CommandLine line("transfer_bench", "Trials that a model of other operators saves");
  line.Add("--folder", &o.folder, "Where records are kept");
  line.Add("--source-trials", &o.source_trials, "", {.least = 1});
  line.Add("--trials", &o.trials, "", {.least = 1});
  line.Add("--seeds", &o.seeds, "", {.least = 1});
  line.Add("MODEL", &o.models, "Of which searches are made; all by default",
           {.names = std::vector<std::string>(std::begin(kModels), std::end(kModels))});
  if (const auto exit_code = line.Parse(argc, argv)) return *exit_code;
  Transfer(o).Run();
  return 0;
}

}  // namespace
}  // namespace kiln

int main(int argc, char** argv) { return kiln::Main(argc, argv); }
