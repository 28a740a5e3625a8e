// kiln bench: what is best so far beside what there was before.
#include <fstream>
#include <iterator>
#include <optional>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "backends/measure/kernel.h"
#include "backends/vendor/beside.h"
#include "backends/workers/scratch_folder.h"
#include "lang/analysis/cost.h"
#include "lang/text/hash.h"
#include "lang/text/text.h"
#include "tools/input.h"
#include "tools/libraries.h"
#include "tools/record.h"
#include "tools/subcommands.h"
#include "tools/target_option.h"
#include "tools/workers.h"

namespace kiln::tools {
namespace {

struct Options {
  InputOption input;
  std::string database = "kiln.db", task;
  std::vector<std::string> peer_folders;
  int rounds = 50;
  double seconds = 60;
  bool cold = false, json = false;
};

struct Beside {
  std::string name;
  MedianInterval seconds, ratio;  // ratio: how many times as long as the program of the record
};

struct Timed {
  std::string task;
  double flops = 0;
  RowId record = 0;             // 0: none
  MedianInterval seconds = {};  // of the record's program
  std::vector<Beside> beside = {};
  std::vector<std::pair<std::string, std::string>> left_out = {};  // what is not among them, and why
  size_t rounds = 0;
  int threads = 1;
};

// The fastest record of the task on this machine.
absl::StatusOr<std::optional<RowId>> BestHere(Store& store, const Program& task, bool cold) {
  const auto entries = store.BestAll();
  if (!entries.ok()) return entries.status();
  const std::string hash = ToString(HashOf(task)), text = ToString(task);
  const RecordEntry* best = nullptr;
  for (const RecordEntry& e : *entries) {
    const bool same = e.workload.hash == hash && e.workload.program == text;
    if (!same || e.record.flags.cold != cold || e.target.fingerprint != Host().fingerprint) continue;
    if (best == nullptr || Seconds(e.record) < Seconds(best->record)) best = &e;
  }
  return best == nullptr ? std::nullopt : std::optional<RowId>(best->record.id);
}

// Stock passes take the file whole: it must be one task, with the parameters of its function.
absl::StatusOr<KernelObject> Stock(const Options& options, const Input& input) {
  if (!options.input.function.empty())
    return absl::FailedPreconditionError("they are not asked for one function of several");
  const auto whole = ImportFile(input.path);
  if (!whole.ok() || input.tasks.size() != 1 || input.tasks[0].occurrences.size() > 1 ||
      whole->program.parameters.size() != input.tasks[0].program.parameters.size())
    return absl::FailedPreconditionError("the file is not one task");
  std::ifstream file(input.path, std::ios::binary);
  const std::string text{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  return StockKernel(text, input.tasks[0].program);
}

absl::StatusOr<Timed> Time(const Options& options, const Program& task, std::optional<RowId> record,
                           const absl::StatusOr<KernelObject>& stock, BuilderPool& builders) {
  Timed timed{.task = task.name, .flops = Flops(task), .record = record.value_or(0)};
  auto untuned = BuildKernel(task, task, builders);
  if (!untuned.ok()) return untuned.status();
  RunRequest request;
  request.timing.runs = options.rounds;
  request.timing.cold_cache = options.cold;
  request.limits.seconds = options.seconds;
  std::vector<std::string> names;
  if (record) {
    const auto rebuilt = Rebuild({.database = options.database, .id = *record});
    if (!rebuilt.ok()) return rebuilt.status();
    auto tuned = BuildKernel(task, rebuilt->scheduled, builders, rebuilt->target.contract);
    if (!tuned.ok()) return tuned.status();
    request.kernel = *std::move(tuned);
    request.threads = rebuilt->target.cores;
    request.peers = {*untuned};
    names = {"untuned"};
  } else {
    request.kernel = *untuned;
  }
  if (stock.ok()) {
    request.peers.push_back(*stock);
    names.push_back("stock");
  } else {
    timed.left_out.emplace_back("stock", std::string(stock.status().message()));
  }
  const auto scratch = ScratchFolder::Make();
  if (!scratch.ok()) return scratch.status();
  const absl::Status compared = CompareWith(*untuned, (*scratch)->path(), &request);
  if (!compared.ok()) return compared;
  const auto libraries = AddLibraries(task, options.peer_folders, &request, &timed.left_out);
  names.insert(names.end(), libraries.begin(), libraries.end());
  timed.threads = request.threads;
  const auto ran = RunAlone(std::move(request));
  if (!ran.ok()) return ran.status();
  timed.rounds = ran->seconds.size();
  timed.seconds = MedianOf(ran->seconds);
  for (size_t i = 0; i < names.size(); ++i)
    timed.beside.push_back(
        {names[i], MedianOf(ran->peer_seconds[i]), RatioOf(ran->peer_seconds[i], ran->seconds)});
  return timed;
}

Json ToJson(const MedianInterval& m) { return {{"median", m.median}, {"low", m.low}, {"high", m.high}}; }

Json ToJson(const Timed& t) {
  Json json = {
      {"task", t.task},       {"record", t.record},           {"rounds", t.rounds},
      {"threads", t.threads}, {"seconds", ToJson(t.seconds)}, {"gflops", t.flops / t.seconds.median * 1e-9}};
  for (const Beside& b : t.beside)
    json["beside"][b.name] = {{"seconds", ToJson(b.seconds)}, {"ratio", ToJson(b.ratio)}};
  for (const auto& [name, why] : t.left_out) json["left_out"][name] = why;
  return json;
}

std::string RatioText(const MedianInterval& m) {
  return absl::StrFormat("%.2fx [%.2f, %.2f]", m.median, m.low, m.high);
}

void AddRows(const Timed& t, std::vector<std::vector<std::string>>& rows) {
  const auto add = [&](const std::string& task, const std::string& program, const MedianInterval& seconds,
                       const std::string& ratio) {
    rows.push_back({task, program, TimeText(seconds.median), RateText(t.flops, seconds.median), ratio});
  };
  add(t.task, t.record == 0 ? "untuned" : absl::StrCat("record ", t.record), t.seconds, "");
  for (const Beside& b : t.beside) add("", b.name, b.seconds, RatioText(b.ratio));
}

absl::Status Bench(const Options& options) {
  absl::StatusOr<Input> input = LoadInput(options.input);
  if (!input.ok()) return input.status();
  const auto store = OpenExistingStore(options.database);
  if (!store.ok()) return store.status();
  const auto builders = StartBuilder(options.database);
  if (!builders.ok()) return builders.status();
  const absl::StatusOr<KernelObject> stock = Stock(options, *input);

  Json list = Json::array();
  std::set<std::string> left_out;
  std::vector<std::vector<std::string>> rows{{"task", "program", "latency", "rate", "times as long"}};
  for (const Task& task : input->tasks) {
    if (!options.task.empty() && task.program.name != options.task) continue;
    const auto record = BestHere(**store, task.program, options.cold);
    if (!record.ok()) return record.status();
    const auto timed = Time(options, task.program, *record, stock, **builders);
    if (!timed.ok())
      return absl::Status(timed.status().code(),
                          absl::StrCat("task ", task.program.name, ": ", timed.status().message()));
    list.push_back(ToJson(*timed));
    AddRows(*timed, rows);
    for (const auto& [name, why] : timed->left_out)
      left_out.insert(absl::StrCat("left out: ", name, ": ", why, "\n"));
  }
  if (list.empty())
    return Usage(
        absl::InvalidArgumentError(absl::StrCat(options.input.file, " has no task \"", options.task, "\"")));
  if (options.json) {
    Print(Json{{"file", options.input.file}, {"machine", Host().fingerprint}, {"tasks", std::move(list)}});
    return absl::OkStatus();
  }
  std::printf("%s\nIn turns: medians, and how many times as long as the first, with 95%% intervals.\n%s",
              Table(rows).c_str(), absl::StrJoin(left_out, "").c_str());
  return absl::OkStatus();
}

}  // namespace

Action AddBench(CLI::App& command) {
  auto options = std::make_shared<Options>();
  AddInput(command, &options->input);
  AddDatabase(command, &options->database);
  command.add_option("--task", options->task, "Only this task");
  command.add_option("--rounds", options->rounds, "Samples of each program, taken in turns")
      ->check(CLI::Range(2, 100000))
      ->capture_default_str();
  command.add_option("--time", options->seconds, "Seconds for a task, after which no new round begins")
      ->check(CLI::Range(1.0, 1e5))
      ->capture_default_str();
  command.add_flag("--cold", options->cold,
                   "With cold caches: the best record of those that were measured so");
  command
      .add_option("--peer-path", options->peer_folders,
                  "A folder with libraries to time too; may be given several times")
      ->take_all()
      ->allow_extra_args(false);
  AddJson(command, &options->json);
  return [options] { return Bench(*options); };
}

}  // namespace kiln::tools
