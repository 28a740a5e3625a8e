// Session::Bench: times the best record beside the untuned program, the stock pipeline and libraries.
#include <fstream>
#include <iterator>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "api/internal/interval.h"
#include "api/internal/libraries.h"
#include "api/internal/operations/operations.h"
#include "api/internal/store/open_store.h"
#include "api/internal/store/record.h"
#include "api/internal/workers.h"
#include "backends/cpu/targets.h"
#include "backends/measure/kernel.h"
#include "backends/vendor/paired_timing.h"
#include "backends/workers/scratch_folder.h"
#include "lang/analysis/cost.h"

namespace kiln::api {
namespace {

// Returns the id of the task's fastest record on this machine under these policies: with cold caches if `cold`, else
// with warm ones, or else as within a model. nullopt if there is none.
absl::StatusOr<std::optional<RowId>> BestHere(Store& store, const Program& task, const Policies& policies,
                                              bool cold) {
  const auto entries = store.BestAll();
  if (!entries.ok()) return entries.status();
  const auto best_with = [&](Caches caches) {
    return BestOf(*entries, task, Host().fingerprint, policies, caches);
  };
  const RecordEntry* best = best_with(cold ? Caches::kCold : Caches::kWarm);
  if (best == nullptr && !cold) best = best_with(Caches::kInModel);
  return best == nullptr ? std::nullopt : std::optional<RowId>(best->record.id);
}

// Compiles the file with stock MLIR passes, which take the whole file. kFailedPrecondition if the file is not one task
// with the parameters of its function, or if the user chose one of its functions.
absl::StatusOr<KernelObject> Stock(const Input& input) {
  if (!input.source.function.empty())
    return absl::FailedPreconditionError("they are not asked for one function of several");
  const auto whole = ImportFile(input.path);
  if (!whole.ok() || input.tasks.size() != 1 || input.tasks[0].occurrences.size() > 1 ||
      whole->program.parameters.size() != input.tasks[0].program.parameters.size())
    return absl::FailedPreconditionError("the file is not one task");
  std::ifstream file(input.path, std::ios::binary);
  const std::string text{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  return StockKernel(text, input.tasks[0].program);
}

class Bench {
 public:
  Bench(const SessionOptions& options, const BenchSettings& settings, std::string runner,
        absl::StatusOr<KernelObject> stock, BuilderPool& builders)
      : options_(options),
        settings_(settings),
        runner_(std::move(runner)),
        stock_(std::move(stock)),
        builders_(builders) {}

  absl::StatusOr<TaskTimes> Time(const Program& task, std::optional<RowId> record) {
    TaskTimes timed{.task = task.name, .flops = Flops(task), .record = record.value_or(0)};
    RunRequest request;
    request.timing.runs = settings_.rounds;
    request.timing.cold_cache = settings_.cold;
    request.limits.seconds = settings_.seconds;
    absl::StatusOr<std::vector<std::string>> names = AddPrograms(task, record, &request, &timed);
    if (!names.ok()) return names.status();
    timed.threads = request.threads;
    const auto ran = RunAlone(std::move(request), runner_);
    if (!ran.ok()) return ran.status();
    timed.rounds = static_cast<int>(ran->seconds.size());
    timed.seconds = IntervalOf(MedianOf(ran->seconds));
    for (size_t i = 0; i < names->size(); ++i)
      timed.beside.push_back({(*names)[i], IntervalOf(MedianOf(ran->peer_seconds[i])),
                              IntervalOf(RatioOf(ran->peer_seconds[i], ran->seconds))});
    return timed;
  }

 private:
  // Adds the program to time to the request: the record's, or the untuned one if there is no record. Adds its peers
  // (untuned, stock, libraries). The request compares outputs with the untuned program's. Returns the names of the
  // peers. `timed` gets the peers that are left out, with the reasons.
  absl::StatusOr<std::vector<std::string>> AddPrograms(const Program& task, std::optional<RowId> record,
                                                       RunRequest* request, TaskTimes* timed) {
    auto untuned = BuildKernel(task, task, builders_);
    if (!untuned.ok()) return untuned.status();
    request->kernel = *untuned;
    std::vector<std::string> names;
    if (record) {
      const auto rebuilt = Rebuild(options_.database, *record);
      if (!rebuilt.ok()) return rebuilt.status();
      auto tuned = BuildKernel(task, rebuilt->scheduled, builders_, rebuilt->target.contract,
                               rebuilt->target.policies);
      if (!tuned.ok()) return tuned.status();
      request->kernel = *std::move(tuned);
      request->threads = rebuilt->target.cores;
      request->peers = {*untuned};
      names = {"untuned"};
    }
    if (stock_.ok()) {
      request->peers.push_back(*stock_);
      names.emplace_back("stock");
    } else {
      timed->left_out.emplace_back("stock", std::string(stock_.status().message()));
    }
    auto scratch = ScratchFolder::Make();
    if (!scratch.ok()) return scratch.status();
    scratch_ = *std::move(scratch);
    const absl::Status compared = CompareWith(*untuned, scratch_->path(), request, runner_);
    if (!compared.ok()) return compared;
    const auto libraries = AddLibraries(task, settings_.peer_folders, runner_, request, &timed->left_out);
    names.insert(names.end(), libraries.begin(), libraries.end());
    return names;
  }

  const SessionOptions& options_;
  const BenchSettings& settings_;
  const std::string runner_;
  const absl::StatusOr<KernelObject> stock_;
  BuilderPool& builders_;
  std::unique_ptr<ScratchFolder> scratch_;
};

}  // namespace

absl::StatusOr<BenchReport> BenchTasks(const SessionOptions& options, const Input& input,
                                       const BenchSettings& settings) {
  const auto store = OpenExistingStore(options.database);
  if (!store.ok()) return store.status();
  const auto workers = FindWorkers(options.workers);
  if (!workers.ok()) return workers.status();
  const auto builders = StartBuilder(options.database, options.workers);
  if (!builders.ok()) return builders.status();
  Bench bench(options, settings, workers->runner, Stock(input), **builders);
  BenchReport report{.file = input.shown, .machine = Host().fingerprint, .tasks = {}};
  for (const Task& task : input.tasks) {
    if (!settings.task.empty() && task.program.name != settings.task) continue;
    const auto record = BestHere(**store, task.program, input.policies, settings.cold);
    if (!record.ok()) return record.status();
    absl::StatusOr<TaskTimes> timed = bench.Time(task.program, *record);
    if (!timed.ok())
      return absl::Status(timed.status().code(),
                          absl::StrCat("task ", task.program.name, ": ", timed.status().message()));
    report.tasks.push_back(*std::move(timed));
  }
  if (report.tasks.empty()) return NoSuchTask(input, settings.task);
  return report;
}

}  // namespace kiln::api
