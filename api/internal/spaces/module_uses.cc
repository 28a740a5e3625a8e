#include "api/internal/spaces/module_uses.h"

#include <algorithm>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "lang/analysis/dataflow.h"

namespace kiln::api {
namespace {

bool Transforms(const Step& step) { return !step.primitive->sampling && !step.primitive->reads_only; }

absl::string_view FirstLine(absl::string_view text) { return text.substr(0, text.find('\n')); }

std::set<std::string> BlockNames(const Program& program) {
  std::set<std::string> names;
  for (const Id block : Blocks(program)) names.emplace(program.Text(program.block(block).name));
  return names;
}

}  // namespace

template <typename... Arguments>
std::function<void(Schedule&, Arguments...)> ModuleUses::Watched(
    const std::string& name, std::function<void(Schedule&, Arguments...)> apply) {
  return [this, name, apply = std::move(apply)](Schedule& s, Arguments... arguments) {
    if (!s.ok()) return;
    const size_t steps = s.steps().size();
    const bool of_plugin = uses_[name].of_plugin;
    const std::set<std::string> before = of_plugin ? BlockNames(s.program()) : std::set<std::string>();
    apply(s, arguments...);
    if (s.ok() && std::none_of(s.steps().begin() + steps, s.steps().end(), Transforms)) return;
    std::set<std::string>& made = made_[name];
    if (!s.ok() || !of_plugin) return;
    const std::set<std::string> after = BlockNames(s.program());
    std::erase_if(made, [&](const std::string& block) { return !after.contains(block); });
    for (const std::string& block : after)
      if (!before.contains(block)) made.insert(block);
  };
}

const ModuleEntry* ModuleUses::Watch(const ModuleEntry* entry, bool of_plugin) {
  if (entry == nullptr) return nullptr;
  uses_[entry->name].of_plugin |= of_plugin;
  ModuleEntry& watched = watched_[entry->name] = *entry;
  watched.make_block = [this, entry](const OptionText& given) {
    absl::StatusOr<BlockModule> made = entry->make_block(given);
    if (made.ok()) made->apply = Watched<Block>(entry->name, std::move(made->apply));
    return made;
  };
  watched.make_space = [this, entry](const OptionText& given) {
    absl::StatusOr<Space> made = entry->make_space(given);
    if (made.ok()) made = Watched<>(entry->name, *std::move(made));
    return made;
  };
  return &watched;
}

Space ModuleUses::Watch(Space space) {
  return [this, space = std::move(space)](Schedule& s) {
    made_.clear();
    space(s);
    const std::set<std::string> left = BlockNames(s.program());
    for (const auto& [name, made] : made_) {
      ModuleUse& use = uses_[name];
      if (!s.ok()) {
        use.dropped = std::string(FirstLine(s.status().message()));
        continue;
      }
      use.lives = true;
      const auto lost = std::find_if(made.begin(), made.end(),
                                     [&](const std::string& block) { return !left.contains(block); });
      if (lost == made.end()) {
        use.keeps = true;
      } else {
        use.lost = *lost;
      }
    }
  };
}

void ModuleUses::Note(const Enumeration& enumeration) {
  for (auto& [name, use] : uses_) {
    for (const Schedule::Declined& declined : enumeration.declined)
      if (use.declined.empty() && absl::StartsWith(declined.where, absl::StrCat(name, "/")))
        use.declined = declined.why;
  }
}

void ModuleUses::Add(const std::string& name, const ModuleUse& use) {
  ModuleUse& known = uses_[name];
  known.of_plugin |= use.of_plugin;
  known.lives |= use.lives;
  known.keeps |= use.keeps;
  if (known.lost.empty()) known.lost = use.lost;
  if (known.dropped.empty()) known.dropped = use.dropped;
  if (known.declined.empty()) known.declined = use.declined;
}

std::vector<std::string> WarningsOf(const ModuleUses& uses) {
  std::vector<std::string> warnings;
  for (const auto& [name, use] : uses.all()) {
    if (use.lives) {
      if (use.of_plugin && !use.keeps)
        warnings.push_back(
            absl::StrCat("in every sketch a later module removes block ", use.lost, ", which module ", name,
                         " makes; docs/howto/write-a-module.md, section 4, says how to keep it"));
      continue;
    }
    if (!use.dropped.empty()) {
      warnings.push_back(
          absl::StrCat("every sketch with steps of module ", name, " was dropped: ", use.dropped));
    } else if (use.of_plugin) {
      warnings.push_back(absl::StrCat("module ", name, " changes nothing",
                                      use.declined.empty() ? "" : absl::StrCat(": ", use.declined)));
    }
  }
  for (std::string& warning : warnings)
    absl::StrAppend(&warning, "; `kiln space` with the same arguments shows more");
  return warnings;
}

}  // namespace kiln::api
