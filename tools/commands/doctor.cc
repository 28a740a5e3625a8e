// kiln doctor: reports what disturbs timings on this machine, or the constants that Kiln uses for it.
#include <cstdio>

#include "absl/strings/str_cat.h"
#include "api/json.h"
#include "api/machine.h"
#include "tools/subcommands.h"

namespace kiln::tools {
namespace {

void PrintConstants() {
  std::vector<std::vector<std::string>> rows = {{"constant", "value", "unit", "machine", "measured by"}};
  for (const api::Constant& c : api::Constants())
    rows.push_back({c.name, absl::StrCat(c.value), c.unit, c.machine, c.command});
  std::printf("%s", Table(rows).c_str());
}

}  // namespace

Action AddDoctor(CLI::App& command) {
  auto json = std::make_shared<bool>(false), constants = std::make_shared<bool>(false);
  AddJson(command, json.get());
  command.add_flag(
      "--constants", *constants,
      "Tell the costs and thresholds that estimates, modules and lowering use, with their origin");
  return [json, constants] {
    if (*constants) {
      *json ? Print(api::ToJson(api::Constants())) : PrintConstants();
      return absl::OkStatus();
    }
    const std::vector<api::Finding> findings = api::NoiseSources();
    if (*json) {
      Print(api::ToJson(findings));
      return absl::OkStatus();
    }
    std::vector<std::vector<std::string>> rows = {{"what", "found", ""}};
    for (const api::Finding& f : findings)
      rows.push_back({f.what, f.found, f.disturbs ? "disturbs: " + f.advice : "ok"});
    std::printf("%s", Table(rows).c_str());
    return absl::OkStatus();
  };
}

}  // namespace kiln::tools
