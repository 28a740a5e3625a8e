#include "lang/analysis/cost.h"
#include "lang/text.h"
#include "tools/subcommands.h"

namespace kiln::tools {
namespace {

struct Options {
  std::string database = "kiln.db";
  bool json = false;
};

// The operations of a workload, 0 if its text does not parse.
double FlopsOf(const WorkloadRow& workload) {
  const absl::StatusOr<Program> program = ParseProgram(workload.program);
  return program.ok() ? Flops(*program) : 0;
}

std::string TargetName(const TargetRow& target) {
  const Json json = Json::parse(target.text, nullptr, /*allow_exceptions=*/false);
  if (!json.is_object() || !json.contains("cpu") || !json["cpu"].is_string()) return target.fingerprint;
  const int cores =
      json.contains("cores") && json["cores"].is_number_integer() ? json["cores"].get<int>() : 1;
  return json["cpu"].get<std::string>() + (cores == 1 ? ", 1 core" : ", " + std::to_string(cores) + " cores");
}

absl::Status Best(const Options& options) {
  auto store = OpenExistingStore(options.database);
  if (!store.ok()) return store.status();
  const auto entries = (*store)->BestAll();
  if (!entries.ok()) return entries.status();
  if (options.json) {
    Json list = Json::array();
    for (const RecordEntry& e : *entries) {
      list.push_back({{"id", e.record.id},
                      {"workload", e.workload.name},
                      {"workload_hash", e.workload.hash},
                      {"target", TargetName(e.target)},
                      {"fingerprint", e.target.fingerprint},
                      {"seconds", Seconds(e.record)},
                      {"gflops", FlopsOf(e.workload) / Seconds(e.record) * 1e-9},
                      {"verified", e.record.verified},
                      {"trial", e.record.trial},
                      {"flags", e.record.flags}});
    }
    Print(list);
    return absl::OkStatus();
  }
  if (entries->empty()) {
    std::printf("%s has no result yet.\n", options.database.c_str());
    return absl::OkStatus();
  }
  std::vector<std::vector<std::string>> rows{{"id", "workload", "target", "latency", "rate", "verified"}};
  for (const RecordEntry& e : *entries) {
    rows.push_back({std::to_string(e.record.id), e.workload.name, TargetName(e.target),
                    TimeText(Seconds(e.record)), RateText(FlopsOf(e.workload), Seconds(e.record)),
                    e.record.verified ? "yes" : "no"});
  }
  std::printf("%s", Table(rows).c_str());
  return absl::OkStatus();
}

}  // namespace

Action AddBest(CLI::App& command) {
  auto options = std::make_shared<Options>();
  AddDatabase(command, &options->database);
  AddJson(command, &options->json);
  return [options] { return Best(*options); };
}

}  // namespace kiln::tools
