// kiln bench and kiln race: time programs in turns. Bench compares the best records with the untuned programs and
// with libraries, race two records with each other.
#include <set>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "api/errors.h"
#include "api/json.h"
#include "api/session.h"
#include "api/text.h"
#include "tools/interrupt.h"
#include "tools/subcommands.h"

namespace kiln::tools {
namespace {

struct Options {
  api::Source source;
  std::string database = "kiln.db", without;
  api::BenchSettings settings;
  bool json = false;
};

std::string RatioText(const api::Interval& ratio) {
  return absl::StrFormat("%.2fx [%.2f, %.2f]", ratio.median, ratio.low, ratio.high);
}

void AddRows(const api::TaskTimes& t, std::vector<std::vector<std::string>>& rows) {
  const auto add = [&](const std::string& task, const std::string& program, double seconds,
                       const std::string& ratio) {
    rows.push_back({task, program, api::TimeText(seconds), api::RateText(t.flops, seconds), ratio});
  };
  add(t.task, t.record == 0 ? "untuned" : absl::StrCat("record ", t.record), t.seconds.median, "");
  for (const api::PeerTimes& p : t.beside) add("", p.name, p.seconds.median, RatioText(p.ratio));
}

void PrintText(const api::WholeTimes& t) {
  std::vector<std::vector<std::string>> rows{{"whole", "program", "latency", "times as long"}};
  rows.push_back(
      {t.name, t.records == 0 ? "untuned" : absl::StrCat(t.records, " of ", t.tasks, " tasks with a record"),
       api::TimeText(t.seconds.median), ""});
  if (t.untuned)
    rows.push_back(
        {"", t.untuned->name, api::TimeText(t.untuned->seconds.median), RatioText(t.untuned->ratio)});
  std::printf("%s\nIn turns: medians of %d, with 95%% intervals. %d samples were disturbed.\n",
              Table(rows).c_str(), t.rounds, t.disturbed);
}

absl::Status Bench(const Options& options) {
  api::Session session({.database = options.database, .without = options.without, .log = Note});
  if (const absl::Status loaded = session.Load(options.source); !loaded.ok()) return loaded;
  const auto report = session.Bench(options.settings);
  if (!report.ok()) return report.status();
  if (options.json) {
    Print(api::ToJson(*report));
    return absl::OkStatus();
  }
  if (report->whole) {
    PrintText(*report->whole);
    return absl::OkStatus();
  }
  std::set<std::string> left_out;
  std::vector<std::vector<std::string>> rows{{"task", "program", "latency", "rate", "times as long"}};
  for (const api::TaskTimes& t : report->tasks) {
    AddRows(t, rows);
    for (const auto& [name, why] : t.left_out)
      left_out.insert(absl::StrCat("left out: ", name, ": ", why, "\n"));
  }
  std::printf("%s\nIn turns: medians, and how many times as long as the first, with 95%% intervals.\n%s",
              Table(rows).c_str(), absl::StrJoin(left_out, "").c_str());
  return absl::OkStatus();
}

struct RaceOptions {
  std::vector<int64_t> records;
  std::vector<std::string> databases;
  bool json = false;
};

void PrintText(const api::RaceReport& r) {
  const auto row = [](const api::RacedProgram& p) -> std::vector<std::string> {
    return {absl::StrCat("  record ", p.record), p.database, api::TimeText(p.seconds.median),
            api::RateText(p.gflops * 1e9 * p.seconds.median, p.seconds.median),
            p.noise.empty() ? "quiet" : p.noise};
  };
  std::printf(
      "%s, in turns\n%s", r.workload.c_str(),
      Table({{"  program", "database", "latency", "rate", "samples"}, row(r.one), row(r.other)}).c_str());
  const char* decided = "not decided: the interval includes 1";
  if (r.ratio.low > 1) decided = "the second is faster";
  if (r.ratio.high < 1) decided = "the first is faster";
  std::printf("ratio %.3f [%.3f, %.3f], %s: %s\n", r.ratio.median, r.ratio.low, r.ratio.high,
              r.noisy() ? "noisy" : "quiet", decided);
}

absl::Status Race(const RaceOptions& options) {
  const std::vector<std::string>& databases = options.databases;
  if (!options.records.empty() && options.records.size() != 2)
    return api::Mistake(absl::InvalidArgumentError("a race takes two records"));
  if (options.records.empty() && databases.size() < 2)
    return api::Mistake(absl::InvalidArgumentError(
        "give two records, or --db twice to race the best records of two databases"));
  api::RecordPlace one, other;
  if (!databases.empty()) one.database = databases.front(), other.database = databases.back();
  if (!options.records.empty()) one.record = options.records[0], other.record = options.records[1];
  api::Session session;
  const Stoppable stoppable([&] { session.Interrupt(); });
  const auto raced = session.Race(one, other);
  if (!raced.ok()) return absl::IsCancelled(raced.status()) ? Interrupted() : raced.status();
  if (options.json) {
    Print(api::ToJson(*raced));
  } else {
    PrintText(*raced);
  }
  return absl::OkStatus();
}

}  // namespace

Action AddBench(CLI::App& command) {
  auto options = std::make_shared<Options>();
  AddFile(command, &options->source);
  AddDatabase(command, &options->database);
  AddWithout(command, &options->without);
  api::BenchSettings& settings = options->settings;
  command.add_option("--task", settings.task, "Only this task");
  command.add_option("--rounds", settings.rounds, "Samples of each program, taken in turns")
      ->check(CLI::Range(2, 100000))
      ->capture_default_str();
  command.add_option("--time", settings.seconds, "Seconds for a task, after which no new round begins")
      ->check(CLI::Range(1.0, 1e5))
      ->capture_default_str();
  command.add_flag("--cold", settings.cold,
                   "Use records that were measured with cold caches, and time with cold caches");
  command.add_flag("--whole", settings.whole,
                   "The whole file as one library, beside the whole on default schedules");
  command.add_option("--threads", settings.threads, "Threads that share the work of the whole")
      ->check(CLI::Range(1, 4096))
      ->capture_default_str();
  command
      .add_option("--peer-path", settings.peer_folders,
                  "A folder with libraries to time too; may be given several times")
      ->take_all()
      ->allow_extra_args(false);
  AddJson(command, &options->json);
  return [options] { return Bench(*options); };
}

Action AddRace(CLI::App& command) {
  auto options = std::make_shared<RaceOptions>();
  command.add_option("ID", options->records, "Two records; without them, the best record of each --db")
      ->check(CLI::PositiveNumber);
  command
      .add_option("--db", options->databases, "Database of the records; given twice, that of each [kiln.db]")
      ->take_all()
      ->allow_extra_args(false);
  AddJson(command, &options->json);
  return [options] { return Race(*options); };
}

}  // namespace kiln::tools
