// Finds modules by name. KILN_MODULE registers them while the program or a plugin is loaded. After that, any
// thread may look them up.
#pragma once

#include <functional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "absl/status/statusor.h"
#include "lang/schedule/schedule.h"
#include "modules/allowed.h"

namespace kiln {

using Space = std::function<void(Schedule&)>;

// A module that schedules one block, and its name, which is part of the names of the module's sampling sites.
struct BlockModule {
  std::string name;
  std::function<void(Schedule&, Block)> apply;
  BlockModule(std::string name_in, std::function<void(Schedule&, Block)> apply_in)
      : name(std::move(name_in)), apply(std::move(apply_in)) {}
  BlockModule(void (*function)(Schedule&, Block));  // NOLINT: registered functions are modules
};

// Declares an option: its name in space strings, the member that holds it, and the values it accepts. The
// value is a number, a text or a list of numbers ("0,16,64").
template <typename Options>
struct OptionDecl {
  const char* name;
  std::variant<int64_t Options::*, std::string Options::*, std::vector<int64_t> Options::*> member;
  Allowed allowed;
};
template <typename Options, typename T>
OptionDecl<Options> Option(const char* name, T Options::* member, Allowed allowed = {}) {
  return {name, member, std::move(allowed)};
}

// The options of a module as (key, value) pairs, spelled as in the space string.
using OptionText = std::vector<std::pair<std::string, std::string>>;

struct ModuleEntry {
  std::string name;
  bool of_block = false;
  std::function<absl::StatusOr<BlockModule>(const OptionText&)> make_block;  // if of_block
  std::function<absl::StatusOr<Space>(const OptionText&)> make_space;        // if not of_block
  // Returns the space string that a named space stands for on a target; null for all other modules.
  std::function<absl::StatusOr<std::string>(const OptionText&, const Target&)> text;
  void (*function)(Schedule&, Block) = nullptr;  // for a block module without options
  std::vector<std::string> options;
};

const ModuleEntry* FindModule(absl::string_view name);  // by name, an older one too (aliases.h); else nullptr
std::vector<std::string> ModuleNames();
// Returns the names that were registered more than once. Only the first registration had an effect, so a plugin that
// repeats a name is refused.
std::vector<std::string> RepeatedModuleNames();

namespace internal {

struct OptionPlace {
  std::string name;
  std::variant<int64_t*, std::string*, std::vector<int64_t>*> value;
  Allowed allowed;
};
absl::Status SetOptions(const std::string& module, const OptionText& given,
                        const std::vector<OptionPlace>& options);
template <typename Options, typename... Decls>
absl::StatusOr<Options> OptionsOf(const std::string& module, const OptionText& given, const Decls&... decls) {
  Options options;
  const auto value = [&](auto member) -> decltype(OptionPlace::value) { return &(options.*member); };
  const absl::Status status =
      SetOptions(module, given, {{decls.name, std::visit(value, decls.member), decls.allowed}...});
  if (!status.ok()) return status;
  return options;
}

// Returns a space that parses the space string text(target) and runs its items. If the string does not parse, the space
// makes the schedule fail.
Space SpaceOfText(std::function<std::string(const Target&)> text);

struct RegisterModule {
  explicit RegisterModule(ModuleEntry entry);
  RegisterModule(const char* name, void (*function)(Schedule&, Block));
  RegisterModule(const char* name, void (*function)(Schedule&));

  template <typename Result, typename Options, typename... Decls>
  RegisterModule(const char* name, Result (*make)(Options), Decls... decls) {
    ModuleEntry entry;
    entry.name = name;
    entry.options = {decls.name...};
    const auto build = [=](const OptionText& given) -> absl::StatusOr<Result> {
      absl::StatusOr<Options> options = OptionsOf<Options>(name, given, decls...);
      if (!options.ok()) return options.status();
      return make(*std::move(options));
    };
    if constexpr (std::is_same_v<Result, BlockModule>) {
      entry.of_block = true;
      entry.make_block = build;
    } else {
      entry.make_space = build;
    }
    *this = RegisterModule(std::move(entry));
  }

  // Registers a named space. `text` returns the space string that the name stands for on a target.
  template <typename Options, typename... Decls>
  RegisterModule(const char* name, std::string (*text)(const Target&, const Options&), Decls... decls) {
    ModuleEntry entry;
    entry.name = name;
    entry.options = {decls.name...};
    entry.text = [=](const OptionText& given, const Target& target) -> absl::StatusOr<std::string> {
      const absl::StatusOr<Options> options = OptionsOf<Options>(name, given, decls...);
      if (!options.ok()) return options.status();
      return text(target, *options);
    };
    entry.make_space = [=](const OptionText& given) -> absl::StatusOr<Space> {
      const absl::StatusOr<Options> options = OptionsOf<Options>(name, given, decls...);
      if (!options.ok()) return options.status();
      return SpaceOfText([=, chosen = *options](const Target& target) { return text(target, chosen); });
    };
    *this = RegisterModule(std::move(entry));
  }
};

}  // namespace internal

}  // namespace kiln
