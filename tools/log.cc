#include "tools/log.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "tools/subcommands.h"

namespace kiln::tools {
namespace {

constexpr const char* kPhases[] = {"propose", "features", "predict", "build", "run", "train", "store"};

struct Options {
  std::string database = "kiln.db";
  RowId run = 0;
  bool json = false;
};

double NumberAt(const Json& json, const char* pointer) {
  const Json::json_pointer at(pointer);
  return json.contains(at) && json[at].is_number() ? json[at].get<double>() : 0;
}

std::string ShareText(double part, double whole) { return whole > 0 ? PercentText(part / whole) : "-"; }

std::string SecondsText(double seconds) { return absl::StrFormat("%.2f", seconds); }

// What the user typed, of the key by which a run is found again (search/run/run_key.h).
std::string CommandOf(const RunRow& run) {
  const Json key = Json::parse(run.command, nullptr, false);
  const bool has = key.is_object() && key.contains("command") && key["command"].is_string();
  return has ? key["command"].get<std::string>() : run.command;
}

std::string TableOf(const Json& rounds) {
  std::vector<std::vector<std::string>> rows{
      {"round", "task", "trials", "failed", "best", "quiet", "accuracy", "valid", "accepted", "ess", "T"}};
  rows[0].insert(rows[0].end(), std::begin(kPhases), std::end(kPhases));
  double total[std::size(kPhases)] = {};
  for (const Json& round : rounds) {
    const double best = NumberAt(round, "/best_seconds"), accuracy = NumberAt(round, "/rank_accuracy"),
                 proposed = NumberAt(round, "/chains/proposed"),
                 size = NumberAt(round, "/chains/effective_sample_size");
    rows.push_back({absl::StrCat(round["round"].get<int>()), round.value("task", std::string()),
                    absl::StrCat(round["trials"].get<int>()), CountText(NumberAt(round, "/failed")),
                    best > 0 ? TimeText(best) : "-",
                    ShareText(NumberAt(round, "/quiet/quiet"), NumberAt(round, "/quiet/samples")),
                    accuracy > 0 ? absl::StrFormat("%.2f", accuracy) : "-",
                    ShareText(NumberAt(round, "/chains/valid"), proposed),
                    ShareText(NumberAt(round, "/chains/accepted"), proposed),
                    size > 0 ? absl::StrFormat("%.0f", size) : "-",
                    size > 0 ? absl::StrFormat("%.3g", NumberAt(round, "/chains/temperature")) : "-"});
    for (size_t p = 0; p < std::size(kPhases); ++p) {
      const double seconds = NumberAt(round, absl::StrCat("/seconds/", kPhases[p]).c_str());
      rows.back().push_back(SecondsText(seconds));
      total[p] += seconds;
    }
  }
  rows.push_back({"all", "", "", "", "", "", "", "", "", "", ""});
  for (const double seconds : total) rows.back().push_back(SecondsText(seconds));
  return Table(rows);
}

absl::Status Log(const Options& options) {
  auto store = OpenExistingStore(options.database);
  if (!store.ok()) return store.status();
  const auto runs = (*store)->Runs();
  if (!runs.ok()) return runs.status();
  Json list = Json::array();
  std::string text;
  for (const RunRow& run : *runs) {
    if (options.run != 0 && run.id != options.run) continue;
    absl::StatusOr<Json> rounds = RoundsOf(**store, run.id);
    if (!rounds.ok()) return rounds.status();
    absl::StrAppend(&text, text.empty() ? "" : "\n", "run ", run.id, ": ", CommandOf(run), ", seed ",
                    run.seed, run.finished ? "" : ", not finished", "\n",
                    rounds->empty() ? "no round is told of\n" : TableOf(*rounds));
    list.push_back({{"id", run.id},
                    {"command", CommandOf(run)},
                    {"options", Json::parse(run.options, nullptr, false)},
                    {"seed", run.seed},
                    {"started", run.started},
                    {"finished", run.finished},
                    {"rounds", *std::move(rounds)}});
    if (list.back()["options"].is_discarded()) list.back()["options"] = run.options;
  }
  if (options.run != 0 && list.empty())
    return absl::NotFoundError(absl::StrCat(options.database, " has no run ", options.run,
                                            "; `kiln log` without --run lists its runs"));
  if (options.json) {
    Print(list);
  } else {
    std::printf("%s", text.empty() ? absl::StrCat(options.database, " has no run yet.\n").c_str()
                                   : absl::StrCat(text,
                                                  "\nTimes in seconds; those to store a round are told "
                                                  "with the next one.\n")
                                         .c_str());
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<Json> RoundsOf(Store& store, RowId run) {
  const auto rows = store.Rounds(run);
  if (!rows.ok()) return rows.status();
  Json rounds = Json::array();
  for (const RoundRow& row : *rows) {
    Json round = {{"index", row.task}, {"round", row.round}, {"trials", row.trials}};
    const Json statistics = Json::parse(row.statistics, nullptr, false);
    if (!statistics.is_object())
      return absl::DataLossError(absl::StrCat("run ", run, ", round ", row.round, " of task ", row.task,
                                              ": its statistics are no JSON object; put back a copy of the "
                                              "database"));
    round.update(statistics);
    rounds.push_back(std::move(round));
  }
  return rounds;
}

Action AddLog(CLI::App& command) {
  auto options = std::make_shared<Options>();
  command.add_option("DB", options->database, "The database, one SQLite file")->capture_default_str();
  command.add_option("--run", options->run, "Only the run with this number")->check(CLI::PositiveNumber);
  AddJson(command, &options->json);
  return [options] { return Log(*options); };
}

}  // namespace kiln::tools
