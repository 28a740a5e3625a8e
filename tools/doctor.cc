// kiln doctor: what on this machine disturbs timings.
#include <cstdio>

#include "backends/measure/disturbances.h"
#include "tools/subcommands.h"

namespace kiln::tools {

Action AddDoctor(CLI::App& command) {
  auto json = std::make_shared<bool>(false);
  AddJson(command, json.get());
  return [json] {
    const std::vector<Finding> findings = Disturbances(ObserveMachine());
    Json list = Json::array();
    std::vector<std::vector<std::string>> rows = {{"what", "found", ""}};
    for (const Finding& f : findings) {
      list.push_back({{"what", f.what}, {"found", f.found}, {"disturbs", f.disturbs}, {"advice", f.advice}});
      rows.push_back({f.what, f.found, f.disturbs ? "disturbs: " + f.advice : "ok"});
    }
    if (*json) {
      Print(list);
    } else {
      std::printf("%s", Table(rows).c_str());
    }
    return absl::OkStatus();
  };
}

}  // namespace kiln::tools
