// Modules by name: what KILN_MODULE registers, and space strings look up. Registration happens when the
// program or a plugin is loaded; lookups are safe from any thread afterwards.
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

// A module of one block, with the name that its sites get.
struct BlockModule {
  std::string name;
  std::function<void(Schedule&, Block)> apply;
  BlockModule(std::string name_in, std::function<void(Schedule&, Block)> apply_in)
      : name(std::move(name_in)), apply(std::move(apply_in)) {}
  BlockModule(void (*function)(Schedule&, Block));  // NOLINT: registered functions are modules
};

// An option's value in a space string: number, text or list of numbers ("0,16,64").
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

// "key=value" pairs as written.
using OptionText = std::vector<std::pair<std::string, std::string>>;

struct ModuleEntry {
  std::string name;
  bool of_block = false;
  std::function<absl::StatusOr<BlockModule>(const OptionText&)> make_block;  // of_block
  std::function<absl::StatusOr<Space>(const OptionText&)> make_space;        // otherwise
  void (*function)(Schedule&, Block) = nullptr;  // of a block module without options
  std::vector<std::string> options;
};

const ModuleEntry* FindModule(absl::string_view name);
std::vector<std::string> ModuleNames();
// Names that were registered again, which did nothing: whoever loads a plugin refuses it then.
std::vector<std::string> RepeatedModuleNames();

namespace internal {

struct OptionPlace {
  std::string name;
  std::variant<int64_t*, std::string*, std::vector<int64_t>*> value;
  Allowed allowed;
};
absl::Status SetOptions(const std::string& module, const OptionText& given,
                        const std::vector<OptionPlace>& options);

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
      Options options;
      const auto value = [&](auto member) -> decltype(OptionPlace::value) { return &(options.*member); };
      const absl::Status status =
          SetOptions(name, given, {{decls.name, std::visit(value, decls.member), decls.allowed}...});
      if (!status.ok()) return status;
      return make(std::move(options));
    };
    if constexpr (std::is_same_v<Result, BlockModule>) {
      entry.of_block = true;
      entry.make_block = build;
    } else {
      entry.make_space = build;
    }
    *this = RegisterModule(std::move(entry));
  }
};

}  // namespace internal

}  // namespace kiln
