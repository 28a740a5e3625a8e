#include "modules/registry.h"

#include <algorithm>
#include <map>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "lang/base/aliases.h"

namespace kiln {
namespace {

std::map<std::string, ModuleEntry, std::less<>>& Registry() {
  static auto* registry = new std::map<std::string, ModuleEntry, std::less<>>();
  return *registry;
}

std::vector<std::string>& Repeated() {
  static auto* names = new std::vector<std::string>();
  return *names;
}

std::string NameOf(void (*function)(Schedule&, Block)) {
  for (const auto& [name, entry] : Registry()) {
    if (entry.function == function) return name;
  }
  return "module";
}

}  // namespace

BlockModule::BlockModule(void (*function)(Schedule&, Block)) : name(NameOf(function)), apply(function) {}

const ModuleEntry* FindModule(absl::string_view name) {
  const absl::string_view space = CurrentName(NameKind::kSpace, name);
  const absl::string_view current = CurrentName(NameKind::kModule, space.substr(0, space.find(' ')));
  const auto it = Registry().find(std::string(current));
  return it == Registry().end() ? nullptr : &it->second;
}

std::vector<std::string> ModuleNames() {
  std::vector<std::string> names;
  for (const auto& [name, entry] : Registry()) names.push_back(name);
  return names;
}

std::vector<std::string> RepeatedModuleNames() { return Repeated(); }

namespace internal {

RegisterModule::RegisterModule(ModuleEntry entry) {
  const std::string name = entry.name;
  if (!Registry().emplace(name, std::move(entry)).second) Repeated().push_back(name);
}

RegisterModule::RegisterModule(const char* name, void (*function)(Schedule&, Block)) {
  ModuleEntry entry;
  entry.name = name;
  entry.of_block = true;
  entry.function = function;
  entry.make_block = [=](const OptionText& given) -> absl::StatusOr<BlockModule> {
    const absl::Status status = SetOptions(name, given, {});
    if (!status.ok()) return status;
    return BlockModule(name, function);
  };
  *this = RegisterModule(std::move(entry));
}

RegisterModule::RegisterModule(const char* name, void (*function)(Schedule&)) {
  ModuleEntry entry;
  entry.name = name;
  entry.make_space = [=](const OptionText& given) -> absl::StatusOr<Space> {
    const absl::Status status = SetOptions(name, given, {});
    if (!status.ok()) return status;
    return Space(function);
  };
  *this = RegisterModule(std::move(entry));
}

}  // namespace internal
}  // namespace kiln
