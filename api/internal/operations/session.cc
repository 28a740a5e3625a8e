#include "api/session.h"

#include "absl/strings/str_cat.h"
#include "api/internal/input.h"
#include "api/internal/model/layout.h"
#include "api/internal/operations/operations.h"
#include "api/internal/operations/tune_run.h"
#include "api/internal/roofline.h"
#include "api/internal/stop.h"
#include "api/internal/tasks.h"
#include "api/internal/workers.h"

namespace kiln::api {

class Session::Impl {
 public:
  absl::Status CheckLoaded() const {
    if (!tasks.empty()) return absl::OkStatus();
    return absl::FailedPreconditionError("no file is loaded; call Session::Load first");
  }

  void Log(const std::vector<std::string>& notes) const {
    if (!options.log) return;
    for (const std::string& note : notes) options.log(absl::StrCat("note: ", note));
  }

  // Fills `tasks` and `left_out` from `input`.
  void ReadInput() {
    tasks = TasksOf(input);
    left_out = LeftOutOf(input);
  }

  // Chooses the layout of a model's temporaries (RaceLayouts) before a search for this machine in the default space
  // that is long enough (ShouldRaceLayouts). Only an interrupt is an error: after any other, the search goes on with
  // the layout of the file, and meets and reports what is wrong.
  absl::StatusOr<std::optional<RacedLayouts>> ChooseLayout(const TuneSettings& settings) {
    if (!ShouldRaceLayouts(settings, tasks.size())) return std::nullopt;
    const Stop::Work work(stop);
    auto raced = RaceLayouts(options, settings.threads, stop, &input);
    if (absl::IsCancelled(raced.status())) return raced.status();
    if (!raced.ok()) return std::nullopt;
    ReadInput();
    return raced;
  }

  SessionOptions options;
  Input input;
  std::vector<TaskInfo> tasks;
  std::vector<LeftOut> left_out;
  Stop stop;
};

Session::Session(SessionOptions options) : impl_(std::make_unique<Impl>()) {
  impl_->options = std::move(options);
}
Session::Session(Session&&) noexcept = default;
Session::~Session() = default;

absl::Status Session::Load(const Source& source) {
  impl_->tasks.clear();
  impl_->left_out.clear();
  absl::StatusOr<Input> input = LoadInput(source, impl_->options.without);
  if (!input.ok()) return input.status();
  impl_->input = *std::move(input);
  TakeChosenLayout(impl_->options, &impl_->input);
  impl_->ReadInput();
  impl_->Log(impl_->input.notes);
  return absl::OkStatus();
}

const std::vector<TaskInfo>& Session::tasks() const { return impl_->tasks; }
const std::vector<LeftOut>& Session::left_out() const { return impl_->left_out; }

absl::StatusOr<std::vector<Roofline>> Session::Rooflines(int threads) {
  if (const absl::Status loaded = impl_->CheckLoaded(); !loaded.ok()) return loaded;
  const absl::StatusOr<Workers> workers = FindWorkers(impl_->options.workers);
  if (!workers.ok()) return workers.status();
  const auto measurer = CpuMeasurer::Start(
      {.threads = threads, .builder_path = workers->builder, .runner_path = workers->runner});
  if (!measurer.ok()) return measurer.status();
  std::vector<Roofline> rooflines;
  for (const TaskInfo& task : impl_->tasks) rooflines.push_back(RooflineOf(task.program, *measurer));
  return rooflines;
}

absl::StatusOr<SpaceReport> Session::Sketches(const SketchSettings& settings) {
  if (const absl::Status loaded = impl_->CheckLoaded(); !loaded.ok()) return loaded;
  return SketchTasks(impl_->input, impl_->tasks, settings);
}

absl::StatusOr<TuneReport> Session::Tune(const TuneSettings& settings, const EventSink& events) {
  if (const absl::Status loaded = impl_->CheckLoaded(); !loaded.ok()) return loaded;
  const auto raced = impl_->ChooseLayout(settings);
  if (!raced.ok()) return raced.status();
  auto report = RunTune({impl_->options, impl_->input, impl_->tasks, impl_->stop}, settings, events);
  if (report.ok()) report->raced_layouts = *raced;
  return report;
}

absl::StatusOr<BuildReport> Session::Build(const BuildSettings& settings) {
  if (const absl::Status loaded = impl_->CheckLoaded(); !loaded.ok()) return loaded;
  return BuildModel(impl_->options, impl_->input, settings, impl_->stop);
}

absl::StatusOr<RunReport> Session::Run(const RunSettings& settings) {
  return RunModel(impl_->options, settings, impl_->stop);
}

absl::StatusOr<BenchReport> Session::Bench(const BenchSettings& settings) {
  if (const absl::Status loaded = impl_->CheckLoaded(); !loaded.ok()) return loaded;
  return settings.whole ? BenchWhole(impl_->options, impl_->input, settings, impl_->stop)
                        : BenchTasks(impl_->options, impl_->input, settings);
}

absl::StatusOr<std::vector<BestRecord>> Session::Best() { return BestRecords(impl_->options); }

absl::StatusOr<Shown> Session::Show(int64_t record, const ShowSettings& settings) {
  return ShowRecord(impl_->options, record, settings);
}

absl::StatusOr<Shown> Session::ShowTask(const std::string& task, const std::string& trace_file,
                                        const ShowSettings& settings) {
  if (const absl::Status loaded = impl_->CheckLoaded(); !loaded.ok()) return loaded;
  return api::ShowTask(impl_->options, impl_->input, task, trace_file, settings);
}

absl::StatusOr<PlannedModel> Session::ShowModel(const std::string& trace_file) {
  return ReadModelTrace(trace_file);
}

absl::StatusOr<ReplayResult> Session::Replay(int64_t record, bool here) {
  return ReplayRecord(impl_->options, record, here, impl_->stop);
}

absl::StatusOr<RaceReport> Session::Race(const RecordPlace& one, const RecordPlace& other) {
  return RaceRecords(impl_->options, one, other, impl_->stop);
}

absl::StatusOr<ExportResult> Session::Export(int64_t record, const ExportSettings& settings) {
  absl::StatusOr<ExportResult> result = ExportRecord(impl_->options, record, settings, impl_->stop);
  if (result.ok()) impl_->Log(result->notes);
  return result;
}

absl::StatusOr<CheckResult> Session::Check(int64_t record, double seconds) {
  return CheckRecord(impl_->options, record, seconds);
}

absl::StatusOr<CheckResult> Session::Check(const std::string& trace_file, const std::string& task,
                                           const std::string& target, double seconds) {
  if (const absl::Status loaded = impl_->CheckLoaded(); !loaded.ok()) return loaded;
  return CheckTrace(impl_->input, trace_file, task, target, seconds);
}

absl::StatusOr<std::vector<RunInfo>> Session::Runs(int64_t run) { return RunsOf(impl_->options, run); }

absl::StatusOr<TrainResult> Session::Train(const std::string& features, const std::string& file) {
  return TrainModel(impl_->options, features, file);
}

void Session::Interrupt() { impl_->stop.Ask(); }

absl::StatusOr<BundleReport> Session::Bundle(const BundleSettings& settings) {
  if (const absl::Status loaded = impl_->CheckLoaded(); !loaded.ok()) return loaded;
  return MakeBundle(impl_->options, impl_->input, impl_->tasks, settings, impl_->stop);
}

absl::StatusOr<ImportReport> Session::ImportRecords(const std::string& file) {
  return ImportRecordsFrom(impl_->options, file);
}

absl::StatusOr<ExportReport> Session::ExportRecords(const std::string& file) {
  return ExportRecordsTo(impl_->options, file);
}

}  // namespace kiln::api
