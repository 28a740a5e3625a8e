#include "api/internal/spaces/named_space.h"

#include "api/errors.h"
#include "api/internal/spaces/plugin.h"
#include "api/internal/spaces/plugin_space.h"

namespace kiln::api {
namespace {

NamedSpace OfFunction(const std::string& text, const Space& space, const Target& target) {
  return {.text = text,
          .space = space,
          .uses = std::make_shared<ModuleUses>(),
          .enumerate = [space, target](const Program& program, const EnumerateOptions& options) {
            return Enumerate(space, program, target, options);
          }};
}

absl::StatusOr<NamedSpace> OfText(const std::string& text, const Target& target) {
  const auto uses = std::make_shared<ModuleUses>();
  const auto watched =
      ParseSpace(text, [&](absl::string_view name) { return uses->Watch(FindModule(name)); });
  const absl::StatusOr<Space> space = ParseSpace(text);
  if (!space.ok()) return Mistake(space.status());
  return NamedSpace{.text = text,
                    .space = *space,
                    .uses = uses,
                    .enumerate = [uses, watched = uses->Watch(*watched), target](
                                     const Program& program, const EnumerateOptions& options) {
                      absl::StatusOr<Enumeration> made = Enumerate(watched, program, target, options);
                      if (made.ok()) uses->Note(*made);
                      return made;
                    }};
}

}  // namespace

absl::StatusOr<NamedSpace> ResolveSpace(const SpaceSettings& settings, const Target& target) {
  if (settings.function) {
    if (!settings.plugins.empty())
      return Mistake(absl::InvalidArgumentError("a space that is a function takes no plugins"));
    return OfFunction(settings.space.empty() ? "space" : settings.space, settings.function, target);
  }
  if (settings.plugins.empty())
    return OfText(settings.space.empty() ? DefaultSpace(target) : settings.space, target);
  PluginSpace plugins{.files = settings.plugins, .objects = {}, .text = settings.space, .target = target};
  for (const std::string& path : settings.plugins) {
    absl::StatusOr<std::string> object = ObjectOfPlugin(path);
    if (!object.ok()) return object.status();
    plugins.objects.push_back(*std::move(object));
  }
  absl::StatusOr<std::string> text = TextOfSpace(plugins);
  if (!text.ok()) return text.status();
  plugins.text = *std::move(text);
  const auto uses = std::make_shared<ModuleUses>();
  return NamedSpace{.text = plugins.text,
                    .space = nullptr,
                    .uses = uses,
                    .enumerate = [plugins, uses](const Program& program, const EnumerateOptions& options) {
                      return EnumerateInChild(plugins, program, options, uses.get());
                    }};
}

}  // namespace kiln::api
