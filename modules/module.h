// Modules: how spaces are made. A module is a plain function that transforms a schedule; modules compose by calling each
// other, and no module handles lists of schedules (design D5).
//
//   void MyModule(Schedule& s, Block block);        a module of one block, for EachBlock
//   void MySpace(Schedule& s);                      a module of a whole program: a space
//   KILN_MODULE("my-module", MyModule);             its name in space strings and in the names of its sites
//
// With options: `BlockModule MyModule(MyOptions options)` returns the module, and each option is declared once:
//   KILN_MODULE("my-module", MyModule, Option("max-innermost", &MyOptions::max_innermost));
//
// A module cannot tell sampling from replay. It ends early with `return` where it does not apply; it never branches on a sampled
// value. A step that does not apply makes the schedule inert, and the sketch is dropped with that reason: check first what may
// fail for good reasons (lang/analysis), or offer the alternative as a choice.
//
// Registration happens when the program or a plugin is loaded; lookups are safe from any thread afterwards.
#pragma once

#include <functional>
#include <initializer_list>
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

// Applies the modules, in order, to every block that is there when it starts, last block first: so the consumers of a block
// are simple when its turn comes. A block that a module has removed is skipped from then on.
void EachBlock(Schedule& s, const std::vector<BlockModule>& modules);

// Runs a module of a whole program under its own section.
void RunSpace(Schedule& s, absl::string_view name, const Space& space);

// An option's value in a space string: number, text or list of numbers ("0,16,64").
template <typename Options>
struct OptionDecl {
  const char* name;
  std::variant<int64_t Options::*, std::string Options::*, std::vector<int64_t> Options::*> member;
};
template <typename Options, typename T>
OptionDecl<Options> Option(const char* name, T Options::*member) {
  return {name, member};
}

// "key=value" pairs as written.
using OptionText = std::vector<std::pair<std::string, std::string>>;

struct ModuleEntry {
  std::string name;
  bool of_block = false;
  std::function<absl::StatusOr<BlockModule>(const OptionText&)> make_block;  // of_block
  std::function<absl::StatusOr<Space>(const OptionText&)> make_space;        // otherwise
  void (*function)(Schedule&, Block) = nullptr;                               // of a block module without options
  std::vector<std::string> options;
};

const ModuleEntry* FindModule(absl::string_view name);
std::vector<std::string> ModuleNames();

namespace internal {

absl::Status SetOption(const std::string& module, const OptionText& given, absl::string_view name, int64_t* number,
                       std::string* text, std::vector<int64_t>* list);
absl::Status CheckOptions(const std::string& module, const OptionText& given, const std::vector<std::string>& known);

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

#define KILN_MODULE_JOIN2(a, b) a##b
#define KILN_MODULE_JOIN(a, b) KILN_MODULE_JOIN2(a, b)
#define KILN_MODULE(name, function, ...)                                                      \
  static const ::kiln::internal::RegisterModule KILN_MODULE_JOIN(kModule_, __LINE__)(         \
      name, function __VA_OPT__(, ) __VA_ARGS__)

}  // namespace kiln
