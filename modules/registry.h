// Modules by name: what KILN_MODULE registers, and space strings look up. Registration happens when the
// program or a plugin is loaded; lookups are safe from any thread afterwards.
#pragma once

#include <functional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "absl/status/statusor.h"
#include "lang/schedule.h"

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
};
template <typename Options, typename T>
OptionDecl<Options> Option(const char* name, T Options::* member) {
  return {name, member};
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

absl::Status SetOption(const std::string& module, const OptionText& given, absl::string_view name,
                       int64_t* number, std::string* text, std::vector<int64_t>* list);
absl::Status CheckOptions(const std::string& module, const OptionText& given,
                          const std::vector<std::string>& known);

struct RegisterModule {
  explicit RegisterModule(ModuleEntry entry);
  RegisterModule(const char* name, void (*function)(Schedule&, Block));
  RegisterModule(const char* name, void (*function)(Schedule&));

  template <typename Result, typename Options, typename... Decls>
  RegisterModule(const char* name, Result (*make)(Options), Decls... decls) {
    ModuleEntry entry;
    entry.name = name;
    entry.options = {decls.name...};
    const auto parse = [=](const OptionText& given) -> absl::StatusOr<Options> {
      Options options;
      absl::Status status = CheckOptions(name, given, {decls.name...});
      const auto set = [&](const OptionDecl<Options>& decl) {
        if (!status.ok()) return;
        if (auto* number = std::get_if<0>(&decl.member)) {
          status = SetOption(name, given, decl.name, &(options.**number), nullptr, nullptr);
        } else if (auto* text = std::get_if<1>(&decl.member)) {
          status = SetOption(name, given, decl.name, nullptr, &(options.**text), nullptr);
        } else {
          status = SetOption(name, given, decl.name, nullptr, nullptr, &(options.*std::get<2>(decl.member)));
        }
      };
      (set(decls), ...);
      if (!status.ok()) return status;
      return options;
    };
    const auto build = [=](const OptionText& given) -> absl::StatusOr<Result> {
      absl::StatusOr<Options> options = parse(given);
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
};

}  // namespace internal

}  // namespace kiln
