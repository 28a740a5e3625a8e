#include "tools/space_option.h"

#include "tools/common.h"
#include "tools/plugin.h"
#include "tools/plugin_space.h"

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
  NamedSpace result;
  if (option.plugins.empty()) {
    result.text = option.space.empty() ? DefaultSpace(target) : option.space;
    absl::StatusOr<Space> space = ParseSpace(result.text);
    if (!space.ok()) return Usage(space.status());
    result.space = *std::move(space);
    result.enumerate = [space = result.space, target](const Program& program,
                                                      const EnumerateOptions& options) {
      return Enumerate(space, program, target, options);
    };
    return result;
  }
  PluginSpace plugins{.files = option.plugins, .objects = {}, .text = option.space, .target = target};
  for (const std::string& path : option.plugins) {
    absl::StatusOr<std::string> object = ObjectOfPlugin(path);
    if (!object.ok()) return object.status();
    plugins.objects.push_back(*std::move(object));
  }
  absl::StatusOr<std::string> text = TextOfSpace(plugins);
  if (!text.ok()) return text.status();
  result.text = plugins.text = *std::move(text);
  result.enumerate = [plugins](const Program& program, const EnumerateOptions& options) {
    return EnumerateInChild(plugins, program, options);
  };
  return result;
}

}  // namespace kiln::tools
