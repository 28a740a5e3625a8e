// kiln bench: compares the best records with the untuned programs and with libraries.
#include <set>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "api/json.h"
#include "api/session.h"
#include "api/text.h"
#include "tools/subcommands.h"

namespace kiln::tools {
namespace {

struct Options {
  api::Source source;
  std::string database = "kiln.db", without;
  api::BenchSettings settings;
  bool json = false;
};

void AddRows(const api::TaskTimes& t, std::vector<std::vector<std::string>>& rows) {
  const auto add = [&](const std::string& task, const std::string& program, double seconds,
                       const std::string& ratio) {
    rows.push_back({task, program, api::TimeText(seconds), api::RateText(t.flops, seconds), ratio});
  };
  add(t.task, t.record == 0 ? "untuned" : absl::StrCat("record ", t.record), t.seconds.median, "");
  for (const api::PeerTimes& p : t.beside)
    add("", p.name, p.seconds.median,
        absl::StrFormat("%.2fx [%.2f, %.2f]", p.ratio.median, p.ratio.low, p.ratio.high));
}

absl::Status Bench(const Options& options) {
  api::Session session({.database = options.database, .without = options.without});
  if (const absl::Status loaded = session.Load(options.source); !loaded.ok()) return loaded;
  const auto report = session.Bench(options.settings);
  if (!report.ok()) return report.status();
  if (options.json) {
    Print(api::ToJson(*report));
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
  command
      .add_option("--peer-path", settings.peer_folders,
                  "A folder with libraries to time too; may be given several times")
      ->take_all()
      ->allow_extra_args(false);
  AddJson(command, &options->json);
  return [options] { return Bench(*options); };
}

}  // namespace kiln::tools
