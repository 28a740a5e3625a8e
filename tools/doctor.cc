// kiln doctor: reports what disturbs timings on this machine.
#include <cstdio>

#include "api/json.h"
#include "api/machine.h"
#include "tools/subcommands.h"

namespace kiln::tools {

Action AddDoctor(CLI::App& command) {
  auto json = std::make_shared<bool>(false);
  AddJson(command, json.get());
  return [json] {
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
