#include "api/json.h"
#include "api/session.h"
#include "api/text.h"
#include "tools/subcommands.h"

namespace kiln::tools {
namespace {

struct Options {
  std::string database = "kiln.db";
  bool json = false;
};

absl::Status Best(const Options& options) {
  const auto records = api::Session({.database = options.database}).Best();
  if (!records.ok()) return records.status();
  if (options.json) {
    Print(api::ToJson(*records));
    return absl::OkStatus();
  }
  if (records->empty()) {
    std::printf("%s has no result yet.\n", options.database.c_str());
    return absl::OkStatus();
  }
  std::vector<std::vector<std::string>> rows{{"id", "workload", "target", "latency", "rate", "equal", "how"}};
  for (const api::BestRecord& r : *records) {
    const bool is_static = r.cycles > 0;
    rows.push_back({std::to_string(r.id), r.workload,
                    r.target + (r.measured_here || is_static ? "" : ", another machine"),
                    is_static ? api::CyclesText(r.cycles) : api::TimeText(r.seconds),
                    is_static ? "static" : api::RateText(r.flops, r.seconds), r.trust, r.how});
  }
  std::printf("%s", Table(rows).c_str());
  return absl::OkStatus();
}

}  // namespace

Action AddBest(CLI::App& command) {
  auto options = std::make_shared<Options>();
  AddDatabase(command, &options->database);
  AddJson(command, &options->json);
  command.footer(std::string(api::kTrustHelp) + "\n" + command.get_footer());
  return [options] { return Best(*options); };
}

}  // namespace kiln::tools
