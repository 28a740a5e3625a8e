#include "tools/space_option.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "tools/common.h"
#include "tools/plugin.h"

namespace kiln::tools {

void AddSpaceOption(CLI::App& command, SpaceOption* option) {
  command.add_option("--space", option->space,
                     "The space, such as \"each-block(auto-inline) | cpu\"; the target's by default");
  command
      .add_option("--plugin", option->plugins,
                  "A module of yours: FILE.cc, compiled on first use, or FILE.so; may be given several times")
      ->take_all()
      ->allow_extra_args(false);
}

absl::StatusOr<NamedSpace> ResolveSpace(const SpaceOption& option, const Target& target) {
  const std::vector<std::string> own = ModuleNames();
  for (const std::string& path : option.plugins) {
    const absl::Status loaded = LoadPlugin(path);
    if (!loaded.ok()) return loaded;
  }
  NamedSpace result;
  result.text = option.space;
  if (result.text.empty()) {
    std::vector<std::string> added;
    for (const std::string& name : ModuleNames()) {
      const bool is_own = std::find(own.begin(), own.end(), name) != own.end();
      if (!is_own && FindModule(name)->of_block) added.push_back(name);
    }
    result.text = DefaultSpace(target);
    if (!added.empty()) {
      result.text = absl::StrCat("each-block(auto-inline | ", absl::StrJoin(added, " | "),
                                 ") | random-compute-location | parallelize-vectorize-unroll");
    }
  }
  absl::StatusOr<Space> space = ParseSpace(result.text);
  if (!space.ok()) return Usage(space.status());
  result.space = *std::move(space);
  return result;
}

}  // namespace kiln::tools
