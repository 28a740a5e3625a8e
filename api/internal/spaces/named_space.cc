#include "api/internal/spaces/named_space.h"

#include "api/errors.h"
#include "api/internal/spaces/plugin.h"
#include "api/internal/spaces/plugin_space.h"

namespace kiln::api {
namespace {

NamedSpace OfThisProcess(const std::string& text, const Space& space, const Target& target) {
  return {.text = text,
          .space = space,
          .enumerate = [space, target](const Program& program, const EnumerateOptions& options) {
            return Enumerate(space, program, target, options);
          }};
}

}  // namespace

absl::StatusOr<NamedSpace> ResolveSpace(const SpaceSettings& settings, const Target& target) {
  if (settings.function) {
    if (!settings.plugins.empty())
      return Mistake(absl::InvalidArgumentError("a space that is a function takes no plugins"));
    return OfThisProcess(settings.space.empty() ? "space" : settings.space, settings.function, target);
  }
  if (settings.plugins.empty()) {
    const std::string text = settings.space.empty() ? DefaultSpace(target) : settings.space;
    const absl::StatusOr<Space> space = ParseSpace(text);
    if (!space.ok()) return Mistake(space.status());
    return OfThisProcess(text, *space, target);
  }
  PluginSpace plugins{.files = settings.plugins, .objects = {}, .text = settings.space, .target = target};
  for (const std::string& path : settings.plugins) {
    absl::StatusOr<std::string> object = ObjectOfPlugin(path);
    if (!object.ok()) return object.status();
    plugins.objects.push_back(*std::move(object));
  }
  absl::StatusOr<std::string> text = TextOfSpace(plugins);
  if (!text.ok()) return text.status();
  plugins.text = *std::move(text);
  return NamedSpace{.text = plugins.text,
                    .space = nullptr,
                    .enumerate = [plugins](const Program& program, const EnumerateOptions& options) {
                      return EnumerateInChild(plugins, program, options);
                    }};
}

}  // namespace kiln::api
