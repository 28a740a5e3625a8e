// kiln bench: times the best records, the untuned programs and libraries in turns.
#include "api/json.h"
#include "api/session.h"
#include "tools/subcommands.h"
#include "tools/text/bench_text.h"

namespace kiln::tools {
namespace {

struct Options {
  api::Source source;
  std::string database = "kiln.db", without;
  api::BenchSettings settings;
  bool json = false;
};

absl::Status Bench(const Options& options) {
  api::Session session({.database = options.database, .without = options.without, .log = Note});
  if (const absl::Status loaded = session.Load(options.source); !loaded.ok()) return loaded;
  const auto report = session.Bench(options.settings);
  if (!report.ok()) return report.status();
  if (options.json) {
    Print(api::ToJson(*report));
  } else {
    PrintText(*report);
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

}  // namespace kiln::tools
