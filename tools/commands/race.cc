// kiln race: times two records in turns.
#include "api/errors.h"
#include "api/json.h"
#include "api/session.h"
#include "tools/interrupt.h"
#include "tools/subcommands.h"
#include "tools/text/bench_text.h"

namespace kiln::tools {
namespace {

struct Options {
  std::vector<int64_t> records;
  std::vector<std::string> databases;
  bool json = false;
};

absl::Status Race(const Options& options) {
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

Action AddRace(CLI::App& command) {
  auto options = std::make_shared<Options>();
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
