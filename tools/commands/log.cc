#include <iterator>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "api/json.h"
#include "api/session.h"
#include "api/text.h"
#include "tools/subcommands.h"

namespace kiln::tools {
namespace {

constexpr const char* kPhases[] = {"propose", "features", "predict", "build", "run", "train", "store"};

struct Options {
  std::string database = "kiln.db";
  int64_t run = 0;
  bool json = false;
};

std::string ShareText(double part, double whole) { return whole > 0 ? api::PercentText(part / whole) : "-"; }

std::string SecondsText(double seconds) { return absl::StrFormat("%.2f", seconds); }

std::string TableOf(const std::vector<api::Round>& rounds) {
  std::vector<std::vector<std::string>> rows{
      {"round", "task", "trials", "failed", "best", "quiet", "accuracy", "valid", "accepted", "ess", "T"}};
  rows[0].insert(rows[0].end(), std::begin(kPhases), std::end(kPhases));
  double total[std::size(kPhases)] = {};
  for (const api::Round& r : rounds) {
    const api::Round::Chains& c = r.chains;
    const auto proposed = static_cast<double>(c.proposed);
    const double size = c.effective_sample_size, accuracy = r.rank_accuracy.value_or(0);
    rows.push_back({absl::StrCat(r.round), r.task, absl::StrCat(r.trials), api::CountText(r.failed),
                    r.best_cycles                    ? api::CyclesText(*r.best_cycles) + ", static"
                    : r.best_seconds.value_or(0) > 0 ? api::TimeText(*r.best_seconds)
                                                     : "-",
                    ShareText(r.quiet, r.samples), accuracy > 0 ? absl::StrFormat("%.2f", accuracy) : "-",
                    ShareText(static_cast<double>(c.valid), proposed),
                    ShareText(static_cast<double>(c.accepted), proposed),
                    size > 0 ? absl::StrFormat("%.0f", size) : "-",
                    size > 0 ? absl::StrFormat("%.3g", c.temperature) : "-"});
    const api::Round::Seconds& s = r.seconds;
    const double seconds[] = {s.propose, s.features, s.predict, s.build, s.run, s.train, s.store};
    for (size_t p = 0; p < std::size(kPhases); ++p) {
      rows.back().push_back(SecondsText(seconds[p]));
      total[p] += seconds[p];
    }
  }
  rows.push_back({"all", "", "", "", "", "", "", "", "", "", ""});
  for (const double seconds : total) rows.back().push_back(SecondsText(seconds));
  return Table(rows);
}

absl::Status Log(const Options& options) {
  const auto runs = api::Session({.database = options.database}).Runs(options.run);
  if (!runs.ok()) return runs.status();
  if (options.json) {
    Print(api::ToJson(*runs));
    return absl::OkStatus();
  }
  if (runs->empty()) std::printf("%s has no run yet.\n", options.database.c_str());
  for (const api::RunInfo& run : *runs) {
    std::printf("run %ld: %s, seed %s%s\n%s\n", static_cast<long>(run.id), run.command.c_str(),
                absl::StrCat(run.seed).c_str(), run.finished ? "" : ", not finished",
                run.rounds.empty() ? "no rounds are recorded\n" : TableOf(run.rounds).c_str());
  }
  if (!runs->empty())
    std::printf("Times are in seconds. The time to store a round is listed with the next round.\n");
  return absl::OkStatus();
}

}  // namespace

Action AddLog(CLI::App& command) {
  auto options = std::make_shared<Options>();
  command.add_option("DB", options->database, "The database, one SQLite file")->capture_default_str();
  command.add_option("--run", options->run, "Only the run with this number")->check(CLI::PositiveNumber);
  AddJson(command, &options->json);
  return [options] { return Log(*options); };
}

}  // namespace kiln::tools
