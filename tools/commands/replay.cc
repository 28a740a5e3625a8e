#include "api/json.h"
#include "api/session.h"
#include "api/text.h"
#include "tools/interrupt.h"
#include "tools/subcommands.h"

namespace kiln::tools {
namespace {

struct Options {
  int64_t record = 0;
  std::string database = "kiln.db", target;
  bool json = false;
};

void PrintText(const api::ReplayResult& r) {
  const auto time = [&](double seconds) {
    return api::TimeText(seconds) + ", " + api::RateText(r.flops, seconds);
  };
  std::printf("record %ld: %s\n", static_cast<long>(r.id), r.workload.c_str());
  std::printf("  recorded  %s\n", time(r.recorded_seconds).c_str());
  if (!r.samples.empty())
    std::printf("  now       %s (median of %zu)\n", time(r.seconds).c_str(), r.samples.size());
  if (!r.how.empty()) std::printf("  how       %s\n", r.how.c_str());
  if (!r.noise.empty()) std::printf("  noisy     %s\n", r.noise.c_str());
  if (r.verified) std::printf("  verified  its outputs agree with those of the original\n");
  if (!r.same_machine)
    std::printf("  note      it was recorded on another machine, %s\n", r.measured_on.c_str());
}

absl::Status Replay(const Options& options) {
  api::Session session({.database = options.database});
  const Stoppable stoppable([&] { session.Interrupt(); });
  const auto replayed = session.Replay(options.record, !options.target.empty());
  if (!replayed.ok()) return replayed.status();
  if (!options.json) {
    PrintText(*replayed);
  } else if (replayed->status.ok()) {
    Print(api::ToJson(*replayed));
  }
  return absl::IsCancelled(replayed->status) ? Interrupted() : replayed->status;
}

}  // namespace

Action AddReplay(CLI::App& command) {
  auto options = std::make_shared<Options>();
  AddRecord(command, &options->record, &options->database);
  command
      .add_option("--target", options->target, "host: run it here though it was measured on another machine")
      ->check(CLI::IsMember({"host"}));
  AddJson(command, &options->json);
  return [options] { return Replay(*options); };
}

}  // namespace kiln::tools
