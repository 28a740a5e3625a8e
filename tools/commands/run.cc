#include "absl/strings/str_cat.h"
#include "api/json.h"
#include "api/session.h"
#include "api/text.h"
#include "tools/subcommands.h"

namespace kiln::tools {
namespace {

struct Options {
  api::RunSettings settings;
  bool json = false;
};

void PrintText(const api::RunReport& r) {
  std::printf("%s: %s [%s, %s] a run, median of %d, %d thread%s\n", r.name.c_str(),
              api::TimeText(r.seconds.median).c_str(), api::TimeText(r.seconds.low).c_str(),
              api::TimeText(r.seconds.high).c_str(), r.runs, r.threads, r.threads == 1 ? "" : "s");
  std::printf("  arena     %ld bytes\n  weights   %ld bytes", static_cast<long>(r.arena_bytes),
              static_cast<long>(r.weights_bytes));
  if (r.prepare_seconds > 0) std::printf(", prepared in %s", api::TimeText(r.prepare_seconds).c_str());
  std::printf("\n");
  if (r.calls.empty()) return;
  double all = 0;
  for (const api::CallTimes& call : r.calls) all += call.seconds.median;
  std::vector<std::vector<std::string>> rows{{"call", "task", "schedule", "time", "95% interval", "share"}};
  for (const api::CallTimes& call : r.calls)
    rows.push_back({std::to_string(call.number), call.task, call.schedule, api::TimeText(call.seconds.median),
                    absl::StrCat(api::TimeText(call.seconds.low), " to ", api::TimeText(call.seconds.high)),
                    api::PercentText(call.seconds.median / all)});
  std::printf("%scalls together %s\n", Table(rows).c_str(), api::TimeText(all).c_str());
}

absl::Status Run(const Options& options) {
  api::Session session;
  const auto report = session.Run(options.settings);
  if (!report.ok()) return report.status();
  if (options.json) {
    Print(api::ToJson(*report));
  } else {
    PrintText(*report);
  }
  return absl::OkStatus();
}

}  // namespace

Action AddRun(CLI::App& command) {
  auto options = std::make_shared<Options>();
  api::RunSettings& settings = options->settings;
  command.add_option("LIBRARY", settings.library, "NAME.so, made by `kiln build`")->required();
  command.add_option("--weights", settings.weights, "NAME.weights; without it drawn constants are prepared");
  command
      .add_option("--input", settings.inputs,
                  "A .npy file; the first is the first input; other inputs are drawn")
      ->take_all()
      ->allow_extra_args(false);
  command.add_option("--runs", settings.runs, "Samples of the time")
      ->check(CLI::Range(1, 100000))
      ->capture_default_str();
  command.add_flag("--profile", settings.profile, "Time each call of the library too, within the whole");
  command.add_option("--threads", settings.threads, "Threads that share the work of a run")
      ->check(CLI::Range(1, 4096))
      ->capture_default_str();
  command.add_option("--seed", settings.seed, "Seed of what is drawn")->capture_default_str();
  command.add_option("--time", settings.seconds, "Seconds after which the run is stopped")
      ->check(NumberFrom(0.1, 1e6))
      ->capture_default_str();
  AddJson(command, &options->json);
  return [options] { return Run(*options); };
}

}  // namespace kiln::tools
