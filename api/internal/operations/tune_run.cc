#include "api/internal/operations/tune_run.h"

#include <filesystem>
#include <map>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "api/errors.h"
#include "api/internal/libraries.h"
#include "api/internal/measurers.h"
#include "api/internal/model/in_place.h"
#include "api/internal/model/race_wholes.h"
#include "api/internal/model/schedules.h"
#include "api/internal/operations/operations.h"
#include "api/internal/roofline.h"
#include "api/internal/run_text.h"
#include "api/internal/spaces/named_space.h"
#include "api/internal/store/flags_text.h"
#include "api/internal/store/rounds.h"
#include "api/internal/store/run_lock.h"
#include "api/internal/store/static_results.h"
#include "api/internal/store/trust.h"
#include "api/internal/strategy.h"
#include "api/internal/tasks.h"
#include "api/internal/workers.h"
#include "api/text.h"
#include "backends/codegen/version.h"
#include "backends/cpu/cores.h"
#include "backends/cpu/targets.h"
#include "backends/export/export.h"
#include "backends/measure/measurer.h"
#include "backends/prove/presburger.h"
#include "lang/base/phase.h"
#include "lang/base/stopwatch.h"
#include "lang/reference/trial_data.h"
#include "search/database/sqlite_store.h"

namespace kiln::api {
namespace {

constexpr double kPartForWholes = 0.25;  // of the search's time, for building wholes that race

class TuneRun {
 public:
  TuneRun(const TuneContext& context, const TuneSettings& settings, const Session::EventSink& events)
      : c_(context), s_(settings), events_(events), command_(RunText(settings, context.input)) {}

  absl::StatusOr<TuneReport> Run() {
    const Stop::Work work(c_.stop);
    if (c_.tasks.empty())
      return Mistake(absl::InvalidArgumentError(absl::StrCat(
          c_.input.shown, ": holds nothing that Kiln can schedule; `kiln build` makes a library of it")));
    if (s_.cold && s_.in_model)
      return Mistake(absl::InvalidArgumentError("caches are cold or as within a model, not both"));
    if (const absl::Status used = UseStrategy(s_, &tuning_); !used.ok()) return used;
    for (const TaskInfo& task : c_.tasks) {
      tasks_.push_back({task.name, task.program, task.flops, static_cast<double>(task.occurrences),
                        std::string(TrialRanges(task.program).status().message())});
      for (const Parameter& p : task.parameters) tasks_.back().arguments.push_back(p.argument);
    }
    absl::StatusOr<Target> target = TargetToTune();  // the same target as the measurer's
    if (!target.ok()) return target.status();
    target->contract = s_.contract;
    target->policies = c_.input.policies;
    const absl::StatusOr<NamedSpace> space = ResolveSpace(s_.space, *target);
    if (!space.ok()) return space.status();
    tuning_.sketches.space = space->text;
    if (const absl::Status made = MakeSketches(*space); !made.ok()) return made;
    auto store = OpenStore(c_.options.database);
    if (!store.ok()) return store.status();
    const auto lock = RunLock::Take(c_.options.database, command_);
    if (!lock.ok()) return lock.status();
    const absl::StatusOr<Workers> workers = FindWorkers(c_.options.workers);
    if (!workers.ok()) return workers.status();
    runner_ = workers->runner;
    if (target->gpu != nullptr) return OnGpu(*space, *target, *workers, **store);
    return Here(*space, *workers, **store);
  }

 private:
  // The machine that measures programs, with its measurer and its builders.
  struct Machine {
    const Target& target;
    Measurer& measurer;
    BuilderPool& builders;
    CpuMeasurer* here = nullptr;  // null: the machine is a GPU or static
    double clock = 0;             // of a static machine, in Hz; 0: times are measured
  };

  absl::StatusOr<Target> TargetToTune() const {
    const auto refuse = [](const std::string& why) { return Mistake(absl::InvalidArgumentError(why)); };
    if (s_.target == "host") {
      if (s_.is_static) return refuse("only programs for GPUs are estimated; name one by --target");
      return CpuTarget(s_.threads);
    }
    absl::StatusOr<Target> target = NamedTarget(s_.target);
    if (!target.ok()) return Mistake(target.status());
    if (target->gpu == nullptr)
      return refuse(
          absl::StrCat("programs for ", s_.target, " are not measured here; tune for host or a GPU"));
    if (s_.cold || s_.in_model || s_.until_roofline > 0)
      return refuse("cold caches, in-model times and rooflines are of CPUs; leave them out for a GPU");
    return target;
  }

  absl::StatusOr<TuneReport> Here(const NamedSpace& space, const Workers& workers, Store& store) {
    auto measurer = CpuMeasurer::Start({.threads = s_.threads,
                                        .contract = s_.contract,
                                        .policies = c_.input.policies,
                                        .cold_cache = s_.cold,
                                        .object_folder = ObjectFolder(c_.options.database),
                                        .builder_path = workers.builder,
                                        .runner_path = workers.runner});
    if (!measurer.ok()) return measurer.status();
    const Stop::Work measuring(c_.stop, [&] { measurer->Interrupt(); });
    Announce(space, measurer->target());
    for (TuneTask& task : tasks_) {
      if (s_.until_roofline > 0 || tasks_.size() > 1)  // the scheduler uses rooflines of several tasks
        task.roofline_seconds = RooflineOf(task.program, *measurer).seconds();
      task.constant_bytes = static_cast<double>(ConstantBytes(task.program));
    }
    return Report(space, {measurer->target(), *measurer, measurer->builders(), &*measurer}, store);
  }

  absl::StatusOr<TuneReport> OnGpu(const NamedSpace& space, const Target& target, const Workers& workers,
                                   Store& store) {
    auto gpu = StartGpu(target, s_.is_static,
                        {.contract = s_.contract,
                         .policies = c_.input.policies,
                         .builders = Threads(),
                         .object_folder = ObjectFolder(c_.options.database),
                         .builder_path = workers.builder,
                         .runner_path = workers.runner,
                         .gpu_runner_path = workers.gpu_runner});
    if (!gpu.ok()) return gpu.status();
    GpuMachine& machine = *gpu->machine;
    const Stop::Work measuring(c_.stop, [&] { machine.Interrupt(); });
    Announce(space, machine.target(), gpu->why_static);
    const double clock = StaticClockOf(machine.target());
    return Report(space, {machine.target(), machine, machine.builders(), nullptr, clock}, store);
  }

  // Returns the fingerprint of the target's GPU if programs run on it. Returns "" for CPUs, and for GPUs whose times
  // are only estimated.
  static std::string GpuOf(const Target& target) {
    return target.gpu != nullptr && StaticClockOf(target) == 0 ? target.fingerprint : "";
  }

  bool stopped() const { return c_.stop.asked(); }

  void Tell(Event event) const {
    if (events_) events_(event);
  }

  // Enumerates the sketches of each task if the user gave a space string or plugins, and collects warnings about their
  // modules. Plugins fork, so this runs before threads start. Returns an error for an invalid space (kInvalidArgument).
  // A task whose enumeration fails otherwise is not tuned.
  absl::Status MakeSketches(const NamedSpace& space) {
    if (space.space && (s_.space.function || s_.space.space.empty())) return absl::OkStatus();
    const Phase phase("enumeration");
    for (TuneTask& task : tasks_) {
      if (!task.failed.empty()) continue;
      absl::StatusOr<Enumeration> made = space.enumerate(task.program, tuning_.sketches);
      if (absl::IsInvalidArgument(made.status())) return made.status();
      if (made.ok()) {
        task.sketches = *std::move(made);
      } else {
        task.failed = std::string(made.status().message());
      }
    }
    warnings_ = WarningsOf(*space.uses);
    return absl::OkStatus();
  }

  void Announce(const NamedSpace& space, const Target& target, const std::string& why_static = "") const {
    Started started{.file = c_.input.shown,
                    .database = c_.options.database,
                    .space = space.text,
                    .cpu = target.cpu,
                    .target = s_.target,
                    .gpu = GpuOf(target),
                    .why_static = why_static,
                    .cores = target.cores,
                    .trials = s_.trials,
                    .seconds = s_.seconds,
                    .tasks = {},
                    .left_out = LeftOutOf(c_.input),
                    .warnings = warnings_};
    for (const TuneTask& task : tasks_) started.tasks.push_back(task.name);
    Tell(std::move(started));
  }

  absl::StatusOr<TuneReport> Report(const NamedSpace& space, const Machine& machine, Store& store) {
    absl::StatusOr<std::vector<TuneResult>> results = Search(space, machine, store);
    if (!results.ok()) return results.status();
    TuneReport report{.file = c_.input.shown,
                      .database = c_.options.database,
                      .target = s_.target,
                      .gpu = GpuOf(machine.target),
                      .interrupted = (*results)[0].interrupted,
                      .run = (*results)[0].run,
                      .warnings = warnings_};
    if (report.run == 0) {
      report.interrupted = true;
      report.status = absl::CancelledError("interrupted before the search began");
      return report;
    }
    absl::StatusOr<std::vector<Round>> rounds = RoundsOf(store, report.run);
    if (!rounds.ok()) return rounds.status();
    report.rounds = *std::move(rounds);
    for (TuneResult& result : *results) {
      absl::StatusOr<TaskResult> finished =
          Finish(c_.tasks[report.tasks.size()], std::move(result), machine, store, report.interrupted);
      if (!finished.ok()) return finished.status();
      Tell(TaskEnded{finished->name, finished->trials, finished->record, finished->seconds, finished->cycles,
                     finished->reason});
      report.tasks.push_back(*std::move(finished));
    }
    if (machine.here != nullptr) {
      RaceTheWhole(*machine.here, store, &report);
      if (absl::Status built = BuildWhole(&report); !built.ok()) return built;
    } else if (!s_.output.empty() && IsModel()) {
      report.warnings.push_back(absl::StrCat(CheckBuildsModels(machine.target).message()));
    }
    if (IsModel()) SumGains(&report);
    report.interrupted |= stopped();
    if (!report.interrupted) {  // an unfinished run is continued by the same command
      if (const absl::Status finished = store.FinishRun(report.run); !finished.ok()) return finished;
    }
    Judge(&report);
    Tell(Ended{report.run, report.interrupted});
    return report;
  }

  absl::StatusOr<std::vector<TuneResult>> Search(const NamedSpace& space, const Machine& machine,
                                                 Store& store) {
    TuneOptions& tuning = tuning_;
    tuning.trials = s_.trials;
    tuning.seconds = s_.seconds;
    tuning.seed = s_.seed;
    tuning.cold = s_.cold;
    tuning.in_model = s_.in_model;
    if (absl::Status status = UseCostModel(s_, machine.target, &tuning); !status.ok()) return status;
    tuning.threads = machine.here != nullptr ? static_cast<int>(UsableCores().size()) : Threads();
    tuning.command = command_;
    tuning.llvm_version = LlvmVersion();
    tuning.leaves_open = true;
    proof::PresburgerProver prover;
    tuning.prover = &prover;
    tuning.stop = c_.stop.flag();
    tuning.progress = [&](const TuneProgress& round) { Tell(RoundOf(round, machine.clock)); };
    InPlace in_place(c_.options, c_.input, machine.target, runner_, c_.stop);
    if (IsModel() && machine.here != nullptr) StartFromDefaults(space, machine.target);
    if (IsModel() && s_.in_place && machine.here != nullptr) {
      tuning.seconds_per_byte = SecondsPerByte(machine.target);
      tuning.in_place = [&](absl::Span<const PlacedTask> tasks) {
        return in_place.Run(tasks, machine.builders);
      };
    }
    return kiln::Tune(tasks_, space.space, machine.target, tuning, machine.measurer, store);
  }

  // Makes the default schedule of each task of a model a trace that its search measures first. A build uses the same
  // schedules for tasks without records. Does nothing if the space has modules of plugins. Drops errors: the search
  // meets them again and reports them.
  void StartFromDefaults(const NamedSpace& space, const Target& target) {
    if (!space.space) return;  // a plugin's code runs in a child process
    const Phase phase("proposals");
    std::vector<DefaultTask> asked;
    for (const TuneTask& task : tasks_) asked.push_back({task.program, task.weight, task.sketches});
    const auto schedules = DrawDefaults(asked, space.space, target, c_.stop);
    for (size_t t = 0; schedules.ok() && t < tasks_.size(); ++t) {
      const Trace& trace = (*schedules)[t].trace;
      if (!trace.steps.empty()) tasks_[t].start.push_back(trace);
    }
  }

  absl::StatusOr<TaskResult> Finish(const TaskInfo& task, TuneResult result, const Machine& machine,
                                    Store& store, bool interrupted) const {
    TaskResult found{.name = result.name,
                     .occurrences = task.occurrences,
                     .trials = result.trials,
                     .failures = result.failures,
                     .ended = result.ended,
                     .record = result.record};
    found.in_place_seconds = result.in_place;
    found.minute_gain = result.minute_gain;
    found.symbol = task.symbol;
    found.parameters = task.parameters;
    if (found.record == 0) {
      found.reason = WhyNothing(result, interrupted);
      return found;
    }
    const absl::StatusOr<RecordEntry> entry = store.Get(found.record);
    if (!entry.ok()) return entry.status();
    Describe(task, entry->record, std::move(result), machine.clock, &found);
    if (!stopped() && machine.here != nullptr)
      Relate(task, *machine.here, entry->record.flags.in_model, &found);
    if (s_.output.empty() || stopped()) return found;
    const absl::Status exported = ExportTo(s_.output, entry->record, machine, &found);
    if (!exported.ok() && !stopped()) return exported;
    return found;
  }

  static void Describe(const TaskInfo& task, const RecordRow& record, TuneResult result, double clock,
                       TaskResult* found) {
    if (clock > 0) {
      found->cycles = result.latency * clock;
    } else {
      found->seconds = result.latency;
      found->gflops = task.flops / result.latency * 1e-9;
    }
    found->verified = record.verified;
    found->proven = IsProven(record);
    found->assumptions = record.assumptions;
    found->trust = TrustText(record);
    found->flags = result.flags.Print();
    found->how = FlagsText(result.flags, result.quiet);
    found->noisy = result.flags.noisy;
    found->noise = NoiseText(result.flags, result.quiet, result.latency, result.searched);
    found->quiet_samples = result.quiet.quiet;
    found->samples = result.quiet.samples;
    if (clock == 0) found->searched_seconds = result.searched;
    found->trace = std::move(result.trace);
    found->program = std::move(result.program);
  }

  // Adds to a result how it compares with the untuned program, with the roofline of the machine and with installed
  // libraries. Times the untuned program, as the record (`in_model`), and the libraries.
  void Relate(const TaskInfo& task, CpuMeasurer& measurer, bool in_model, TaskResult* found) const {
    const MeasureRequest request{.original = &task.program, .scheduled = &task.program, .in_model = in_model};
    const MeasureResult untuned = measurer.Measure({request})[0];
    RecordRow row;
    row.samples = untuned.samples;
    if (untuned.ok()) found->untuned_seconds = Seconds(row);
    const int cores = measurer.target().cores;
    found->roofline = RooflineOf(task.program, measurer);
    found->share = ShareText(found->roofline, found->seconds, cores);
    auto libraries = BesideLibraries({.task = &task.program,
                                      .scheduled = &found->program,
                                      .seconds = found->seconds,
                                      .threads = cores,
                                      .contract = s_.contract,
                                      .cold = s_.cold,
                                      .policies = c_.input.policies,
                                      .runner = runner_},
                                     measurer.builders());
    if (libraries.ok()) found->libraries = *std::move(libraries);
  }

  static absl::Status ExportTo(const std::string& folder, const RecordRow& record, const Machine& machine,
                               TaskResult* found) {
    if (machine.here == nullptr) {
      auto exported = ExportForGpu(found->program, found->name, folder, machine.builders, machine.target,
                                   record, absl::StrCat(found->trust, "\n", kTrustHelp));
      if (!exported.ok()) return exported.status();
      found->files = exported->files;
      return absl::OkStatus();
    }
    const auto exported = kiln::Export(found->program, found->name, folder, machine.builders,
                                       {.trace = record.trace,
                                        .contract = record.flags.contract,
                                        .policies = record.flags.policies,
                                        .checked = absl::StrCat(found->trust, "\n", kTrustHelp)});
    if (!exported.ok()) return exported.status();
    found->files = exported->files;
    return absl::OkStatus();
  }

  std::string WhyNothing(const TuneResult& r, bool interrupted) const {
    if (!r.failed.empty()) return r.failed;
    if (!r.failures.empty()) return absl::StrCat("no candidate ran: ", FailuresText(r.failures));
    if (interrupted) return "interrupted before its turn";
    return absl::StrCat("the budget ended before its turn; give more ",
                        s_.seconds > 0 ? "--time" : absl::StrCat("than --trials ", s_.trials));
  }

  // Returns true if the file has several calls (tasks, occurrences of a task, or foreign operations), and there is code
  // for each foreign one.
  bool IsModel() const {
    const auto has_code = [](const Boundary& b) { return !b.code.empty(); };
    return (c_.tasks.size() > 1 || c_.tasks[0].occurrences > 1 ||
            !c_.input.file_content.boundaries.empty()) &&
           absl::c_all_of(c_.input.file_content.boundaries, has_code);
  }

  int Threads() const { return s_.threads > 0 ? s_.threads : static_cast<int>(UsableCores().size()); }

  // Chooses the records of a model by racing whole models (RaceWholes), if a library of the model will be built,
  // `in_place` is set and `trials` is not 0. Drops errors: the build then takes the fastest records.
  void RaceTheWhole(CpuMeasurer& measurer, Store& store, TuneReport* report) const {
    if (s_.output.empty() || !s_.in_place || !IsModel() || s_.trials == 0 || stopped()) return;
    auto raced = RaceWholes({c_.options, c_.input, measurer.target(), runner_, measurer.builders(),
                             kPartForWholes * watch_.Seconds(), c_.stop},
                            store);
    if (raced.ok()) report->raced_wholes = *std::move(raced);
  }

  // If an output folder is set, builds one library of a file with several calls, whatever was tuned, and times it. The
  // report lacks what an interrupt prevented, and the times if the run failed.
  absl::Status BuildWhole(TuneReport* report) const {
    if (s_.output.empty() || !IsModel() || stopped()) return absl::OkStatus();
    auto whole = BuildModel(c_.options, c_.input, {.folder = s_.output}, c_.stop);
    if (absl::IsCancelled(whole.status())) return absl::OkStatus();
    if (!whole.ok()) return whole.status();
    report->whole = *std::move(whole);
    if (stopped()) return absl::OkStatus();
    const std::string library =
        (std::filesystem::path(s_.output) / absl::StrCat(report->whole->name, ".so")).string();
    auto run = RunModel(c_.options, {.library = library, .threads = Threads(), .profile = true}, c_.stop);
    if (run.ok()) report->whole_run = *std::move(run);
    return absl::OkStatus();
  }

  static void SumGains(TuneReport* report) {
    double gain = 0;
    for (const TaskResult& task : report->tasks) gain += task.minute_gain;
    if (gain > 0) report->minute_gain = gain;
  }

  static void Judge(TuneReport* report) {
    if (report->interrupted) {
      report->status = absl::CancelledError("interrupted; the same search goes on with what was measured");
      return;
    }
    // Task names by the reason why they have no record.
    std::map<std::string, std::vector<std::string>> without;
    size_t count = 0;
    for (const TaskResult& task : report->tasks) {
      if (task.record != 0) continue;
      ++count;
      without[task.reason].push_back(task.name);
    }
    if (count == 0 || report->whole) return;  // a library has default schedules where there is no record
    const size_t all = report->tasks.size();
    std::string text = absl::StrCat(count, " of ", all, all == 1 ? " task has" : " tasks have", " no record");
    for (const auto& [reason, names] : without)
      absl::StrAppend(&text, "\n  ", absl::StrJoin(names, ", "), ": ", reason);
    report->status = absl::FailedPreconditionError(text);
    report->partial = count < all;
  }

  const TuneContext& c_;
  const TuneSettings& s_;
  const Session::EventSink& events_;
  const std::string command_;
  std::string runner_;
  double spent_ = 0;
  const Stopwatch watch_{&spent_};
  std::vector<std::string> warnings_;
  std::vector<TuneTask> tasks_;
  TuneOptions tuning_;
};

}  // namespace

absl::StatusOr<TuneReport> RunTune(const TuneContext& context, const TuneSettings& settings,
                                   const Session::EventSink& events) {
  return TuneRun(context, settings, events).Run();
}

}  // namespace kiln::api
