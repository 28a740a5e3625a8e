#include "search/run/tune.h"

#include <cmath>
#include <filesystem>
#include <map>
#include <optional>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "backends/codegen/version.h"
#include "backends/cpu/cores.h"
#include "backends/cpu/targets.h"
#include "backends/export/export.h"
#include "backends/measure/measurer.h"
#include "backends/prove/presburger.h"
#include "lang/analysis/cost.h"
#include "lang/base/phase.h"
#include "lang/reference/trial_data.h"
#include "search/database/sqlite_store.h"
#include "tools/cost_model_option.h"
#include "tools/flags_text.h"
#include "tools/input.h"
#include "tools/interrupt.h"
#include "tools/libraries.h"
#include "tools/log.h"
#include "tools/progress.h"
#include "tools/roofline.h"
#include "tools/run_lock.h"
#include "tools/space_option.h"
#include "tools/strategy_option.h"
#include "tools/subcommands.h"
#include "tools/target_option.h"
#include "tools/trust.h"
#include "tools/workers.h"
#include "trace/text.h"

namespace kiln::tools {
namespace {

struct Options {
  InputOption input;
  std::string database = "kiln.db", output, target = "host";
  SpaceOption space;
  CostModelOption cost_model;
  StrategyOption strategy;
  int trials = 1000, threads = 1;
  double seconds = 0;
  uint64_t seed = 0;
  bool no_contract = false, cold = false, quiet = false, json = false;
};

// What a run is known by: everything but where results go. A path is the same however it is written.
std::string OptionsText(const Options& o) {
  const auto absolute = [](const std::string& path) {
    return std::filesystem::absolute(path).lexically_normal().string();
  };
  std::string text = absl::StrCat("kiln tune ", o.input.file == "-" ? "-" : Quoted(absolute(o.input.file)),
                                  " --trials ", o.trials, " --seed ", o.seed);
  if (!o.input.function.empty()) absl::StrAppend(&text, " --function ", Quoted(o.input.function));
  if (o.seconds > 0) absl::StrAppend(&text, " --time ", o.seconds);
  if (o.threads != 1) absl::StrAppend(&text, " --threads ", o.threads);
  if (o.no_contract) absl::StrAppend(&text, " --no-contract");
  if (o.cold) text += " --cold";
  text += TextOf(o.strategy);
  absl::StrAppend(&text, CommandText(o.cost_model));
  if (!o.space.space.empty()) absl::StrAppend(&text, " --space ", Quoted(o.space.space));
  for (const std::string& plugin : o.space.plugins)
    absl::StrAppend(&text, " --plugin ", Quoted(absolute(plugin)));
  return text;
}

// Standard input has no name: its digest stands for it.
std::string CommandText(const Options& o, const Input& input) {
  return absl::StrCat(OptionsText(o), input.digest.empty() ? "" : absl::StrCat(" < ", input.digest));
}

const char* EndedText(const std::string& ended) {
  if (ended == "exhausted") return "; the space has nothing new";
  if (ended == "roofline") return "; near the roofline";
  return ended == "gain" ? "; the last ones gained too little" : "";
}

// A result with what is said about it.
struct Found {
  TuneResult result;
  double flops = 0;
  bool verified = false, proven = false;
  std::optional<double> untuned = {};  // seconds of the program as it came
  Roofline roofline = {};
  int cores = 1;
  std::vector<LibraryRatio> libraries = {};
  std::vector<std::string> files = {};
};

class TuneCommand {
 public:
  explicit TuneCommand(const Options& options) : o_(options) {}

  absl::Status Run() {
    if (const absl::Status applied = Apply(o_.strategy, &tuning_); !applied.ok()) return applied;
    absl::StatusOr<Input> input = LoadInput(o_.input);
    if (absl::IsOutOfRange(input.status())) return NothingToDo(input.status());
    if (!input.ok()) return input.status();
    input_ = *std::move(input);
    for (const Task& task : input_.tasks) {
      tasks_.push_back({task.program.name, task.program, Flops(task.program),
                        static_cast<double>(task.occurrences.size()),
                        std::string(TrialRanges(task.program).status().message())});
    }
    Target target = CpuTarget(o_.threads);  // as that of the measurer
    target.contract = !o_.no_contract;
    const absl::StatusOr<NamedSpace> space = ResolveSpace(o_.space, target);
    if (!space.ok()) return space.status();
    tuning_.sketches.space = space->text;
    if (const absl::Status made = MakeSketches(*space); !made.ok()) return made;
    auto store = OpenStore(o_.database);
    if (!store.ok()) return store.status();
    const auto lock = RunLock::Take(o_.database, CommandText(o_, input_));
    if (!lock.ok()) return lock.status();
    auto measurer = CpuMeasurer::Start({.threads = o_.threads,
                                        .contract = !o_.no_contract,
                                        .cold_cache = o_.cold,
                                        .object_folder = ObjectFolder(o_.database)});
    if (!measurer.ok()) return measurer.status();
    Announce(*space, measurer->target());
    for (TuneTask& task : tasks_) {
      if (o_.strategy.until_roofline > 0)
        task.roofline_seconds = RooflineOf(task.program, *measurer).seconds();
    }

    const Stoppable stoppable([&] { measurer->Interrupt(); });
    stop_ = stoppable.flag();
    absl::StatusOr<std::vector<TuneResult>> results = Search(*space, *measurer, **store);
    if (!results.ok()) return results.status();
    interrupted_ = (*results)[0].interrupted;
    if ((*results)[0].run == 0) return Interrupted();
    absl::StatusOr<Json> rounds = RoundsOf(**store, (*results)[0].run);
    if (!rounds.ok()) return rounds.status();
    rounds_ = *std::move(rounds);
    for (TuneResult& result : *results) {
      const absl::Status status = Finish(std::move(result), *measurer, **store);
      if (!status.ok()) return status;
    }
    interrupted_ |= *stop_;
    o_.json ? PrintJson() : PrintText();
    return Verdict();
  }

 private:
  absl::Status NothingToDo(const absl::Status& why) const {
    if (o_.json)
      tools::Print(Json{{"file", o_.input.file},
                        {"database", o_.database},
                        {"interrupted", false},
                        {"tasks", Json::array()},
                        {"rounds", Json::array()},
                        {"nothing", why.message()}});
    else
      std::printf("kiln: %s\n", std::string(why.message()).c_str());
    return absl::OkStatus();
  }

  // Those of plugins, before there are threads. A task whose sketches fail is left out.
  absl::Status MakeSketches(const NamedSpace& space) {
    if (space.space) return absl::OkStatus();
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
    return absl::OkStatus();
  }

  void Announce(const NamedSpace& space, const Target& target) const {
    NoteCores(o_.threads, target);
    if (o_.quiet) return;
    std::fprintf(stderr, "kiln: %s: %zu %s, %d trials on %s (%d %s), space %s, database %s\n",
                 o_.input.file.c_str(), tasks_.size(), tasks_.size() == 1 ? "task" : "tasks", o_.trials,
                 target.cpu.c_str(), target.cores, target.cores == 1 ? "core" : "cores", space.text.c_str(),
                 o_.database.c_str());
    for (const Boundary& b : input_.boundaries) {
      std::fprintf(stderr, "kiln: not tunable: %s: %s (%s)\n", b.location.c_str(), b.op.c_str(),
                   b.reason.c_str());
    }
  }

  absl::StatusOr<std::vector<TuneResult>> Search(const NamedSpace& space, CpuMeasurer& measurer,
                                                 Store& store) {
    Progress progress(stderr, Progress::StyleOf(stderr, o_.quiet), tasks_, o_.trials, o_.seconds);
    TuneOptions& tuning = tuning_;
    tuning.trials = o_.trials;
    tuning.seconds = o_.seconds;
    tuning.seed = o_.seed;
    tuning.cold = o_.cold;
    if (absl::Status status = UseCostModel(o_.cost_model, &tuning); !status.ok()) return status;
    tuning.threads = static_cast<int>(UsableCores().size());
    tuning.command = CommandText(o_, input_);
    tuning.llvm_version = LlvmVersion();
    proof::PresburgerProver prover;
    tuning.prover = &prover;
    tuning.stop = stop_;
    tuning.progress = [&](const TuneProgress& round) { progress.Show(round); };
    return Tune(tasks_, space.space, measurer.target(), tuning, measurer, store);
  }

  absl::Status Finish(TuneResult result, CpuMeasurer& measurer, Store& store) {
    const TuneTask& task = tasks_[found_.size()];
    Found found{.result = std::move(result), .flops = task.flops, .cores = measurer.target().cores};
    if (found.result.record != 0) {
      const absl::StatusOr<RecordEntry> entry = store.Get(found.result.record);
      if (!entry.ok()) return entry.status();
      found.verified = entry->record.verified;
      found.proven = IsProven(entry->record);
      if (!*stop_) {
        const MeasureRequest request{.original = &task.program, .scheduled = &task.program};
        const MeasureResult untuned = measurer.Measure({request})[0];
        RecordRow row;
        row.samples = untuned.samples;
        if (untuned.ok()) found.untuned = Seconds(row);
        Relate(task, measurer, &found);
      }
      if (!o_.output.empty() && !*stop_) {
        const bool contract = entry->record.flags.contract;
        const auto exported = Export(found.result.program, task.name, o_.output, measurer.builders(),
                                     {.trace = entry->record.trace,
                                      .contract = contract,
                                      .checked = absl::StrCat(TrustText(entry->record), "\n", kTrustHelp)});
        if (!exported.ok() && !*stop_) return exported.status();
        if (exported.ok()) found.files = exported->files;
      }
    }
    found_.push_back(std::move(found));
    return absl::OkStatus();
  }

  // Beside what the machine could do, and what its libraries take.
  void Relate(const TuneTask& task, CpuMeasurer& measurer, Found* found) const {
    found->roofline = RooflineOf(task.program, measurer);
    auto libraries = BesideLibraries({.task = &task.program,
                                      .scheduled = &found->result.program,
                                      .seconds = found->result.latency,
                                      .threads = found->cores,
                                      .contract = !o_.no_contract,
                                      .cold = o_.cold},
                                     measurer.builders());
    if (libraries.ok()) found->libraries = *std::move(libraries);
  }

  void PrintText() const {
    for (const Found& f : found_) {
      const TuneResult& r = f.result;
      std::printf("%s\n", r.name.c_str());
      if (r.record == 0) {
        std::printf("  best      none after %d trials: %s\n", r.trials, WhyNothing(r).c_str());
      } else {
        std::string best = absl::StrCat(TimeText(r.latency), ", ", RateText(f.flops, r.latency));
        if (f.untuned) {
          absl::StrAppendFormat(&best, ", %.1fx faster than untuned (%s)", *f.untuned / r.latency,
                                TimeText(*f.untuned));
        }
        const std::string id = absl::StrCat("--db ", Quoted(o_.database), " ", r.record);
        std::printf("  best      %s\n", best.c_str());
        std::printf("  record    %ld, %s\n", static_cast<long>(r.record),
                    TrustText(f.proven, f.verified, AssumptionsOf(r.trace.steps)).c_str());
        const std::string share = ShareText(f.roofline, r.latency, f.cores);
        if (!share.empty()) std::printf("  machine   %s\n", share.c_str());
        for (const LibraryRatio& l : f.libraries) {
          std::printf("  library   %s takes %.2f times as long (%s)\n", l.name.c_str(), l.ratio,
                      TimeText(l.seconds).c_str());
        }
        const std::string noise = NoiseText(r.flags, r.quiet, r.latency, r.searched);
        if (!noise.empty()) {
          std::printf(
              "  noisy     %s\n            close other programs, then type the same command again: it races "
              "again; `%s doctor` says what disturbs\n",
              noise.c_str(), ProgramName().c_str());
        }
        std::printf("  how       %s\n", FlagsText(r.flags, r.quiet).c_str());
        std::printf("  trials    %d%s%s\n", r.trials,
                    r.failures.empty() ? "" : absl::StrCat(", of which ", FailuresText(r.failures)).c_str(),
                    EndedText(r.ended));
        std::printf("  show      %s show %s\n", ProgramName().c_str(), id.c_str());
        std::printf("  replay    %s replay %s\n", ProgramName().c_str(), id.c_str());
        std::printf("  export    %s export %s -o out/\n", ProgramName().c_str(), id.c_str());
      }
      for (const std::string& file : f.files) std::printf("  wrote     %s\n", file.c_str());
    }
  }

  void PrintJson() const {
    Json tasks = Json::array();
    for (size_t t = 0; t < found_.size(); ++t) {
      const Found& f = found_[t];
      Json json = {{"name", f.result.name},     {"occurrences", input_.tasks[t].occurrences.size()},
                   {"trials", f.result.trials}, {"failures", f.result.failures},
                   {"ended", f.result.ended},   {"record", f.result.record}};
      if (f.result.record == 0) json["reason"] = WhyNothing(f.result);
      if (f.result.record != 0) {
        json["seconds"] = f.result.latency;
        json["gflops"] = f.flops / f.result.latency * 1e-9;
        json["verified"] = f.verified;
        json["proven"] = f.proven;
        json["assumptions"] = AssumptionsOf(f.result.trace.steps);
        if (f.roofline.seconds() > 0)
          json["machine"] = {{"share", f.roofline.seconds() / f.result.latency},
                             {"bound", f.roofline.IsCompute() ? "peak" : "bandwidth"},
                             {"gflops", f.roofline.flops_per_second * 1e-9},
                             {"gigabytes_per_second", f.roofline.bytes_per_second * 1e-9}};
        for (const LibraryRatio& l : f.libraries)
          json["libraries"][l.name] = {{"seconds", l.seconds}, {"ratio", l.ratio}};
        json["trace"] = kiln::Print(f.result.trace);
        json["flags"] = f.result.flags.Print();
        json["noisy"] = f.result.flags.noisy;
        const std::string noise =
            NoiseText(f.result.flags, f.result.quiet, f.result.latency, f.result.searched);
        if (!noise.empty()) json["noise"] = noise;
        json["quiet_samples"] = {{"quiet", f.result.quiet.quiet}, {"samples", f.result.quiet.samples}};
        if (f.result.searched > 0) json["searched_seconds"] = f.result.searched;
        if (f.untuned) json["untuned_seconds"] = *f.untuned;
        json["files"] = f.files;
      }
      tasks.push_back(std::move(json));
    }
    Json json = {{"file", o_.input.file},
                 {"database", o_.database},
                 {"interrupted", interrupted_},
                 {"tasks", std::move(tasks)},
                 {"rounds", rounds_}};
    if (interrupted_) json["resume"] = TypedCommand();
    if (const absl::Status verdict = Verdict(); !verdict.ok()) json["error"] = verdict.message();
    tools::Print(json);
  }

  absl::Status Verdict() const {
    if (interrupted_) return Interrupted();
    std::map<std::string, std::vector<std::string>> without;  // names by reason
    size_t count = 0;
    for (const Found& f : found_) {
      if (f.result.record != 0) continue;
      ++count;
      without[WhyNothing(f.result)].push_back(f.result.name);
    }
    if (count == 0) return absl::OkStatus();
    std::string text = absl::StrCat(count, " of ", found_.size(),
                                    found_.size() == 1 ? " task has" : " tasks have", " no record");
    for (const auto& [reason, names] : without)
      absl::StrAppend(&text, "\n  ", absl::StrJoin(names, ", "), ": ", reason);
    const absl::Status status = absl::FailedPreconditionError(text);
    return count < found_.size() ? Partial(status) : status;
  }

  // Of a task without a record.
  std::string WhyNothing(const TuneResult& r) const {
    if (!r.failed.empty()) return r.failed;
    if (!r.failures.empty()) return absl::StrCat("no candidate ran: ", FailuresText(r.failures));
    if (interrupted_) return "interrupted before its turn";
    return absl::StrCat("the budget ended before its turn; give more ",
                        o_.seconds > 0 ? "--time" : absl::StrCat("than --trials ", o_.trials));
  }

  const Options& o_;
  Input input_;
  std::vector<TuneTask> tasks_;
  TuneOptions tuning_;
  std::vector<Found> found_;
  Json rounds_;
  const std::atomic<bool>* stop_ = nullptr;
  bool interrupted_ = false;
};

}  // namespace

Action AddTune(CLI::App& command) {
  auto o = std::make_shared<Options>();
  AddInput(command, &o->input);
  command.add_option("--trials", o->trials, "Candidates to measure, for all tasks together")
      ->check(CLI::Range(1, 100000000))
      ->capture_default_str();
  command.add_option("--time", o->seconds, "Seconds after which no new round begins; 0: no limit")
      ->check(NumberFrom(0, 1e9))
      ->capture_default_str();
  command.add_option("--seed", o->seed, "Of all random choices")
      ->check(NumberFrom(0, 18446744073709551615.0))
      ->capture_default_str();
  AddDatabase(command, &o->database);
  command.add_option("-o,--output", o->output, "Folder to which the best of each task is exported");
  command.add_option("--threads", o->threads, "Cores that programs run on, with a thread on each; 0: all")
      ->check(CLI::Range(0, 4096))
      ->capture_default_str();
  command.add_flag("--no-contract", o->no_contract,
                   "Round a * b before c is added to it; by default the two may be one operation");
  command.add_flag("--cold", o->cold,
                   "Time with cold caches: all that a program reads and writes is evicted before");
  AddSpaceOption(command, &o->space);
  command.add_option("--target", o->target, "The machine to tune for: host")
      ->check(CLI::IsMember({"host"}))
      ->capture_default_str();
  AddStrategyOption(command, &o->strategy);
  AddCostModelOption(command, &o->cost_model);
  command.add_flag("--quiet", o->quiet, "No progress");
  AddJson(command, &o->json);
  command.footer(absl::StrCat(kTrustHelp, "\n", command.get_footer()));
  return [o] { return TuneCommand(*o).Run(); };
}

}  // namespace kiln::tools
