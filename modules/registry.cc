#include "modules/registry.h"

#include <algorithm>
#include <map>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"

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
  const auto it = Registry().find(std::string(name));
  return it == Registry().end() ? nullptr : &it->second;
}

std::vector<std::string> ModuleNames() {
  std::vector<std::string> names;
  for (const auto& [name, entry] : Registry()) names.push_back(name);
  return names;
}

std::vector<std::string> RepeatedModuleNames() { return Repeated(); }

namespace internal {

absl::Status CheckOptions(const std::string& module, const OptionText& given,
                          const std::vector<std::string>& known) {
  for (const auto& [key, value] : given) {
    if (std::find(known.begin(), known.end(), key) == known.end()) {
      return absl::InvalidArgumentError(absl::StrCat("module ", module, " has no option \"", key,
                                                     "\"; it has ",
                                                     known.empty() ? "none" : absl::StrJoin(known, ", ")));
    }
  }
  return absl::OkStatus();
}

absl::Status SetOption(const std::string& module, const OptionText& given, absl::string_view name,
                       int64_t* number, std::string* text, std::vector<int64_t>* list) {
  for (const auto& [key, value] : given) {
    if (key != name) continue;
    if (text != nullptr) *text = value;
    std::vector<int64_t> numbers;
    for (const absl::string_view item : absl::StrSplit(value, ',')) {
      int64_t n;
      if (text == nullptr && !absl::SimpleAtoi(item, &n)) {
        return absl::InvalidArgumentError(
            absl::StrCat("option ", name, " of module ", module, " is \"", value, "\"; it takes ",
                         list != nullptr ? "numbers with commas between" : "a number"));
      }
      if (text == nullptr) numbers.push_back(n);
    }
    if (list != nullptr) *list = numbers;
    if (number != nullptr) {
      if (numbers.size() != 1)
        return absl::InvalidArgumentError(
            absl::StrCat("option ", name, " of module ", module, " takes one number"));
      *number = numbers[0];
    }
  }
  return absl::OkStatus();
}

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
    const absl::Status status = CheckOptions(name, given, {});
    if (!status.ok()) return status;
    return BlockModule(name, function);
  };
  *this = RegisterModule(std::move(entry));
}

RegisterModule::RegisterModule(const char* name, void (*function)(Schedule&)) {
  ModuleEntry entry;
  entry.name = name;
  entry.make_space = [=](const OptionText& given) -> absl::StatusOr<Space> {
    const absl::Status status = CheckOptions(name, given, {});
    if (!status.ok()) return status;
    return Space(function);
  };
  *this = RegisterModule(std::move(entry));
}

}  // namespace internal
}  // namespace kiln
