#include "lang/base/aliases.h"

#include <algorithm>
#include <vector>

#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"

namespace kiln {
namespace {

constexpr Alias kAliases[] = {
    {NameKind::kPrimitive, "", "rfactor-rows", "rfactor-lanes", "0.2.0"},
    {NameKind::kChoice, "multi-level-tiling", "lanes-across", "vector-axis", "0.2.0"},
    {NameKind::kChoice, "nchwc-layout", "channels-in-blocks", "nchwc", "0.2.0"},
    {NameKind::kChoice, "non-temporal-stores", "stream", "non-temporal", "0.2.0"},
    {NameKind::kModule, "", "channels-in-blocks", "nchwc-layout", "0.2.0"},
    {NameKind::kModule, "", "rows-at-once", "row-blocking", "0.2.0"},
    {NameKind::kModule, "", "skip-padding", "drop-padded-terms", "0.2.0"},
    {NameKind::kModule, "", "stream-results", "non-temporal-stores", "0.2.0"},
    {NameKind::kOption, "non-temporal-stores", "caches", "l2-multiple", "0.2.0"},
    {NameKind::kOption, "row-blocking", "most", "max-rows", "0.2.0"},
    {NameKind::kSpace, "", "cpu-avx2", "cpu dots=0", "0.2.0"},
    {NameKind::kSpace, "", "cpu-avx512", "cpu dots=0", "0.2.0"},
    {NameKind::kSpace, "", "cpu-dots", "cpu", "0.2.0"},
};

// Renames the module and the choice in a path such as "MODULE/BLOCK/CHOICE#2", to stored or to current names. In both
// cases, an old name of a space becomes its current one, without options. In a path without a module, as in a pin, the
// choice may belong to any module: for the stored name, takes the rows of all modules. For the current name, keeps the
// choice as it is.
std::string Renamed(absl::string_view path, bool to_stored) {
  const auto rename = to_stored ? StoredName : CurrentName;
  std::vector<std::string> parts = absl::StrSplit(path, '/');
  std::string& choice = parts.back();
  const std::string number = choice.substr(std::min(choice.find('#'), choice.size()));
  choice.resize(choice.size() - number.size());
  const bool has_module = parts.size() >= 3;
  for (const Alias& alias : kAliases) {
    if (alias.kind != NameKind::kChoice) continue;
    if (has_module ? CurrentName(NameKind::kModule, parts[parts.size() - 3]) == alias.module : to_stored)
      choice = std::string(rename(NameKind::kChoice, choice, alias.module));
  }
  for (size_t i = 0; i + 1 < parts.size(); ++i) {
    const absl::string_view space = CurrentName(NameKind::kSpace, parts[i]);
    parts[i] = std::string(rename(NameKind::kModule, space.substr(0, space.find(' ')), ""));
  }
  choice += number;
  return absl::StrJoin(parts, "/");
}

}  // namespace

absl::Span<const Alias> Aliases() { return kAliases; }

absl::string_view StoredName(NameKind kind, absl::string_view name, absl::string_view module) {
  for (const Alias& alias : kAliases)
    if (alias.kind == kind && alias.module == module && alias.name == name) return alias.old_name;
  return name;
}

absl::string_view CurrentName(NameKind kind, absl::string_view name, absl::string_view module) {
  for (const Alias& alias : kAliases)
    if (alias.kind == kind && alias.module == module && alias.old_name == name) return alias.name;
  return name;
}

std::string StoredPath(absl::string_view path) { return Renamed(path, /*to_stored=*/true); }
std::string CurrentPath(absl::string_view path) { return Renamed(path, /*to_stored=*/false); }

}  // namespace kiln
