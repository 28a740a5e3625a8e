#include "tools/strategy_option.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "tools/common.h"
#include "trace/text.h"

namespace kiln::tools {
namespace {

constexpr char kHead[] = "kiln.trace ";

// Of all records that ran, fastest first.
absl::StatusOr<std::vector<Trace>> TracesOfDatabase(const std::string& path) {
  auto store = OpenExistingStore(path);
  if (!store.ok()) return store.status();
  absl::StatusOr<StoreContents> contents = (*store)->ReadAll();
  if (!contents.ok()) return contents.status();
  std::vector<RecordRow>& records = contents->records;
  std::erase_if(records, [](const RecordRow& record) { return !CanBeBest(record); });
  std::sort(records.begin(), records.end(), [](const RecordRow& a, const RecordRow& b) {
    return std::make_pair(Seconds(a), a.id) < std::make_pair(Seconds(b), b.id);
  });
  std::vector<Trace> traces;
  for (const RecordRow& record : records) {
    absl::StatusOr<Trace> trace = ParseTrace(record.trace, absl::StrCat(path, ": record ", record.id));
    if (!trace.ok()) return trace.status();
    traces.push_back(*std::move(trace));
  }
  return traces;
}

absl::StatusOr<std::vector<Trace>> TracesOfText(const std::string& text, const std::string& path) {
  std::vector<Trace> traces;
  for (size_t at = 0; at < text.size();) {
    const size_t next = text.find(absl::StrCat("\n", kHead), at);
    const size_t end = next == std::string::npos ? text.size() : next + 1;
    const std::string name = absl::StrCat(
        path, traces.empty() && end == text.size() ? "" : absl::StrCat(" (trace ", traces.size() + 1, ")"));
    absl::StatusOr<Trace> trace = ParseTrace(text.substr(at, end - at), name);
    if (!trace.ok()) return trace.status();
    traces.push_back(*std::move(trace));
    at = end;
  }
  return traces;
}

absl::StatusOr<std::vector<Trace>> LoadTraces(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  const std::string text{std::istreambuf_iterator<char>(in), {}};
  if (!in) return absl::NotFoundError(absl::StrCat(path, ": there is no such file"));
  if (absl::StartsWith(text, "SQLite format 3")) return TracesOfDatabase(path);
  auto traces = TracesOfText(text, path);
  if (traces.ok() && traces->empty())
    return absl::InvalidArgumentError(
        absl::StrCat(path, ":1:1: no trace; one begins with \"", kHead, "v1\""));
  return traces;
}

}  // namespace

void AddStrategyOption(CLI::App& command, StrategyOption* option) {
  command.add_option("--strategy", option->strategy, "How programs to be measured are found")
      ->check(CLI::IsMember(StrategyNames()))
      ->capture_default_str();
  command.add_option("--replay", option->replay,
                     "For --strategy replay: a file of traces, one after the other, or a database");
  command.add_option("--start", option->start, "Traces to be measured first: a file of them, or a database");
  command.add_option("--scheduler", option->scheduler, "Which task gets the next round")
      ->check(CLI::IsMember({"gradient", "round-robin"}))
      ->capture_default_str();
  command
      .add_option("--until-roofline", option->until_roofline,
                  "A task ends within so many percent of its roofline; 0: never")
      ->check(CLI::Range(0.0, 1e6))
      ->capture_default_str();
  command
      .add_option("--least-gain", option->least_gain,
                  "A task ends when its last quarter of trials, or 64, gained fewer percent; 0: never")
      ->check(CLI::Range(0.0, 1e6))
      ->capture_default_str();
}

std::string TextOf(const StrategyOption& option) {
  const StrategyOption defaults;
  std::string text;
  if (option.strategy != defaults.strategy) absl::StrAppend(&text, " --strategy ", option.strategy);
  const auto add_file = [&](absl::string_view name, const std::string& file) {
    if (file.empty()) return;
    absl::StrAppend(&text, " ", name, " ",
                    Quoted(std::filesystem::absolute(file).lexically_normal().string()));
  };
  add_file("--replay", option.replay);
  add_file("--start", option.start);
  if (option.scheduler != defaults.scheduler) absl::StrAppend(&text, " --scheduler ", option.scheduler);
  if (option.until_roofline > 0) absl::StrAppend(&text, " --until-roofline ", option.until_roofline);
  if (option.least_gain > 0) absl::StrAppend(&text, " --least-gain ", option.least_gain);
  return text;
}

absl::Status Apply(const StrategyOption& option, TuneOptions* tuning) {
  if ((option.strategy == "replay") != !option.replay.empty())
    return Usage(absl::InvalidArgumentError("--strategy replay and --replay FILE go together"));
  tuning->strategy = option.strategy;
  tuning->scheduling = option.scheduler == "gradient" ? Scheduling::kGradient : Scheduling::kRoundRobin;
  tuning->until_roofline = option.until_roofline / 100;
  tuning->least_gain = option.least_gain / 100;
  const auto load = [](const std::string& file, std::vector<Trace>* into) {
    if (file.empty()) return absl::OkStatus();
    absl::StatusOr<std::vector<Trace>> traces = LoadTraces(file);
    if (traces.ok()) *into = *std::move(traces);
    return traces.status();
  };
  const absl::Status replay = load(option.replay, &tuning->search.replay);
  return replay.ok() ? load(option.start, &tuning->start) : replay;
}

}  // namespace kiln::tools
