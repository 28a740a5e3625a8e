#include "absl/strings/str_cat.h"
#include "lang/analysis/cost.h"
#include "lang/text/text.h"
#include "search/run/run_key.h"
#include "tools/flags_text.h"
#include "tools/record.h"
#include "tools/subcommands.h"
#include "tools/target_option.h"
#include "tools/trust.h"

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

std::string TargetName(const TargetRow& row) {
  const absl::StatusOr<Target> target = TargetOf(row);
  if (!target.ok() || target->cpu.empty()) return row.fingerprint;
  return MachineText(*target);
}

bool MeasuredHere(const RecordEntry& e) { return e.target.fingerprint == Host().fingerprint; }

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
                      {"measured_here", MeasuredHere(e)},
                      {"seconds", Seconds(e.record)},
                      {"gflops", FlopsOf(e.workload) / Seconds(e.record) * 1e-9},
                      {"verified", e.record.verified},
                      {"proven", IsProven(e.record)},
                      {"assumptions", e.record.assumptions},
                      {"trial", e.record.trial},
                      {"flags", e.record.flags.Print()},
                      {"noisy", e.record.flags.noisy}});
    }
    Print(list);
    return absl::OkStatus();
  }
  if (entries->empty()) {
    std::printf("%s has no result yet.\n", options.database.c_str());
    return absl::OkStatus();
  }
  std::vector<std::vector<std::string>> rows{{"id", "workload", "target", "latency", "rate", "equal", "how"}};
  for (const RecordEntry& e : *entries) {
    rows.push_back({std::to_string(e.record.id), e.workload.name,
                    TargetName(e.target) + (MeasuredHere(e) ? "" : ", another machine"),
                    TimeText(Seconds(e.record)), RateText(FlopsOf(e.workload), Seconds(e.record)),
                    TrustText(e.record), FlagsText(e.record)});
  }
  std::printf("%s", Table(rows).c_str());
  return absl::OkStatus();
}

}  // namespace

Action AddBest(CLI::App& command) {
  auto options = std::make_shared<Options>();
  AddDatabase(command, &options->database);
  AddJson(command, &options->json);
  command.footer(absl::StrCat(kTrustHelp, "\n", command.get_footer()));
  return [options] { return Best(*options); };
}

}  // namespace kiln::tools
