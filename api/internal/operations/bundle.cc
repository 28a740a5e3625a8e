// Session::Bundle: draws programs of each task from the space of a GPU, compiles them, and writes them to a folder for
// a machine that has the GPU.
#include <set>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "api/errors.h"
#include "api/internal/operations/operations.h"
#include "api/internal/roofline.h"
#include "api/internal/spaces/named_space.h"
#include "api/internal/tasks.h"
#include "api/internal/workers.h"
#include "backends/codegen/version.h"
#include "backends/cpu/cores.h"
#include "backends/cpu/targets.h"
#include "backends/measure/chosen_elements.h"
#include "backends/measure/gpu_bundle.h"
#include "backends/measure/kernel.h"
#include "backends/measure/static_machine.h"
#include "build_info.h"
#include "lang/analysis/cost.h"
#include "lang/base/phase.h"
#include "lang/text/hash.h"
#include "lang/text/text.h"
#include "nlohmann/json.hpp"
#include "search/cost/xgboost_model.h"
#include "search/database/store.h"
#include "search/propose/prefilter.h"
#include "search/run/run_key.h"
#include "search/sampler/prior.h"
#include "trace/text.h"

namespace kiln::api {
namespace {

using Json = nlohmann::json;

constexpr int kBatch = 16;        // programs that are compiled at a time
constexpr int kMostBatches = 64;  // for each wanted batch, if few of the drawn programs are new
constexpr double kSecondsOfElements = 5;
constexpr int64_t kRunBytes = int64_t{16} << 30;

class Bundler {
 public:
  Bundler(const Input& input, const std::vector<TaskInfo>& tasks, const BundleSettings& settings, Stop& stop,
          StaticMachine& machine, const NamedSpace& space, GpuBundle& bundle)
      : input_(input),
        tasks_(tasks),
        settings_(settings),
        stop_(stop),
        machine_(machine),
        space_(space),
        bundle_(bundle),
        pool_(static_cast<int>(UsableCores().size())) {}

  absl::StatusOr<BundleReport> Run() {
    BundleReport report{.folder = settings_.folder};
    NoteRun();
    for (const TaskInfo& task : tasks_) {
      if (!settings_.task.empty() && task.name != settings_.task) continue;
      const auto bundled = Bundle(task, static_cast<int>(report.tasks.size()));
      if (!bundled.ok()) return bundled.status();
      report.tasks.push_back(*bundled);
    }
    if (report.tasks.empty()) return NoSuchTask(input_, settings_.task);
    if (absl::Status status = bundle_.Close(); !status.ok()) return status;
    report.bytes = bundle_.bytes();
    return report;
  }

 private:
  void NoteRun() {
    const Target& target = machine_.target();
    bundle_.Note(Json{{"item", "run"},
                      {"uid", RandomUid()},
                      {"command", absl::StrCat("kiln bundle ", input_.shown, " --target ", settings_.target)},
                      {"seed", settings_.seed},
                      {"kiln", KILN_VERSION},
                      {"llvm", LlvmVersion()},
                      {"xgboost", XgboostVersion()},
                      {"started", absl::ToUnixMillis(absl::Now())},
                      {"target", TargetText(target)}}
                     .dump());
  }

  absl::StatusOr<BundledTask> Bundle(const TaskInfo& task, int number) {
    const Target& target = machine_.target();
    const absl::StatusOr<Enumeration> sketches =
        space_.enumerate(task.program, {.space = space_.text, .stop = stop_.flag()});
    if (!sketches.ok()) return sketches.status();
    if (sketches->sketches.empty())
      return absl::FailedPreconditionError(
          absl::StrCat("the space gives no sketch that applies for ", task.name));
    SearchSpace space{task.program, target, {}, [&] { return MakePrefilter(target); }};
    for (const Sketch& sketch : sketches->sketches) space.sketches.push_back(sketch.trace);
    bundle_.Note(Json{{"item", "workload"},
                      {"id", number},
                      {"hash", ToString(HashOf(task.program))},
                      {"name", task.name},
                      {"program", ToString(task.program)}}
                     .dump());
    ranges_ = RangesOf(task.program, settings_.seed);
    tolerances_ = TolerancesOf(task.program);
    BundledTask bundled{.name = task.name};
    const std::vector<Prefilter> prefilters = MakePrefilters(space, pool_);
    std::set<std::string> seen;
    const int most = kMostBatches * (settings_.programs / kBatch + 1);
    for (int batch = 0; batch < most && bundled.programs < settings_.programs; ++batch) {
      if (stop_.asked()) return absl::CancelledError("interrupted");
      const Phase phase("proposals");
      const auto drawn =
          DrawPrior(space, prefilters, kBatch, settings_.seed * kMostBatches + batch, number, pool_);
      if (!drawn.ok()) return drawn.status();
      std::vector<std::shared_ptr<const Point>> points;
      for (const auto& point : *drawn)
        if (seen.insert(ToString(HashOf(point->replayed.program()))).second) points.push_back(point);
      bundled.drawn += static_cast<int>(points.size());
      Add(task.program, number, points, &bundled);
    }
    return bundled;
  }

  // Compiles programs of a task. Adds those that can be compiled to the bundle, with the elements that their outputs
  // must have, until the task has as many programs as wanted. Counts those that cannot be compiled as refused.
  void Add(const Program& original, int task, const std::vector<std::shared_ptr<const Point>>& points,
           BundledTask* bundled) {
    std::vector<MeasureRequest> requests;
    for (const auto& point : points)
      requests.push_back({.task = task, .original = &original, .scheduled = &point->replayed.program()});
    const std::vector<MeasureResult> results = machine_.Measure(requests);
    for (size_t i = 0; i < points.size() && bundled->programs < settings_.programs; ++i) {
      const Program& scheduled = points[i]->replayed.program();
      const BuildResult built =
          machine_.builders().Submit(GpuKernelBuild(machine_.target(), scheduled, BuildOutput::kCubin)).get();
      if (!results[i].ok() || !built.ok()) {
        ++bundled->refused;
        continue;
      }
      const absl::Time end = absl::Now() + absl::Seconds(kSecondsOfElements);
      RunRequest run{.kernel = GpuKernelOf(scheduled, built.outputs[0], built.launches, built.prepared,
                                           tolerances_, ranges_),
                     .data_seed = settings_.seed,
                     .timing = {.runs = settings_.runs, .max_seconds = settings_.run_seconds / 4},
                     .limits = {.seconds = settings_.run_seconds, .bytes = kRunBytes}};
      WantElements(
          EvaluateChosen(
              original, scheduled,
              {.data_seed = settings_.seed, .ranges = ranges_, .stop = [&] { return absl::Now() > end; }}),
          original, &run.kernel);
      RecordFlags flags = results[i].flags;
      flags.is_static = false;
      flags.spot_checked = true;
      const Trace trace = WithDecisions(points[i]->replayed);
      bundle_.Add(run, Json{{"item", "time"},
                            {"workload", task},
                            {"operator", original.name},
                            {"trial", bundled->programs},
                            {"sketch", SketchText(trace)},
                            {"trace", Print(trace)},
                            {"program_hash", ToString(HashOf(scheduled))},
                            {"flags", flags.Print()},
                            {"flops", Flops(original)},
                            {"bytes", ParameterBytes(original)},
                            {"static", results[i].samples.empty() ? 0 : results[i].samples[0]}}
                           .dump());
      ++bundled->programs;
    }
  }

  const Input& input_;
  const std::vector<TaskInfo>& tasks_;
  const BundleSettings& settings_;
  Stop& stop_;
  StaticMachine& machine_;
  const NamedSpace& space_;
  GpuBundle& bundle_;
  ThreadPool pool_;
  std::vector<DataRange> ranges_;
  std::vector<Tolerance> tolerances_;
};

}  // namespace

absl::StatusOr<BundleReport> MakeBundle(const SessionOptions& options, const Input& input,
                                        const std::vector<TaskInfo>& tasks, const BundleSettings& settings,
                                        Stop& stop) {
  const Stop::Work work(stop);
  absl::StatusOr<Target> target = NamedTarget(settings.target, 1);
  if (!target.ok()) return Mistake(target.status());
  if (target->gpu == nullptr)
    return Mistake(absl::InvalidArgumentError(absl::StrCat(settings.target, " is no GPU")));
  target->policies = input.policies;
  const absl::StatusOr<NamedSpace> space = ResolveSpace(settings.space, *target);
  if (!space.ok()) return space.status();
  const absl::StatusOr<Workers> workers = FindWorkers(options.workers);
  if (!workers.ok()) return workers.status();
  auto machine = StaticMachine::Start(*target, {.builders = static_cast<int>(UsableCores().size()),
                                                .data_seed = settings.seed,
                                                .object_folder = ObjectFolder(options.database),
                                                .builder_path = workers->builder,
                                                .runner_path = workers->runner});
  if (!machine.ok()) return machine.status();
  absl::StatusOr<GpuBundle> bundle = GpuBundle::Create(settings.folder);
  if (!bundle.ok()) return bundle.status();
  return Bundler(input, tasks, settings, stop, **machine, *space, *bundle).Run();
}

}  // namespace kiln::api
