#include "modules/space.h"

#include <cctype>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace kiln {
namespace {

class Parser {
 public:
  explicit Parser(absl::string_view text) : text_(text) {}

  absl::StatusOr<Space> Parse() {
    std::vector<std::pair<std::string, Space>> items;
    do {
      const std::string name = Word();
      if (name == "each-block") {
        absl::StatusOr<std::vector<BlockModule>> modules = BlockModules();
        if (!modules.ok()) return modules.status();
        items.emplace_back("", [m = *std::move(modules)](Schedule& s) { EachBlock(s, m); });
        continue;
      }
      const ModuleEntry* entry = FindModule(name);
      if (entry == nullptr) return Unknown(name);
      if (entry->of_block)
        return Wrong(absl::StrCat(name, " is a module of a block; write each-block(", name, ")"));
      const absl::StatusOr<OptionText> options = Options();
      if (!options.ok()) return options.status();
      absl::StatusOr<Space> space = entry->make_space(*options);
      if (!space.ok()) return Wrong(std::string(space.status().message()));
      items.emplace_back(name, *std::move(space));
    } while (Take('|'));
    if (Peek() != '\0')
      return Wrong(absl::StrCat("found '", std::string(1, Peek()), "', wanted | or the end"));
    return Space([items](Schedule& s) {
      for (const auto& [name, space] : items) {
        if (name.empty()) {
          space(s);
        } else {
          RunSpace(s, name, space);
        }
      }
    });
  }

 private:
  absl::StatusOr<std::vector<BlockModule>> BlockModules() {
    std::vector<BlockModule> modules;
    if (!Take('(')) return Wrong("wanted ( after each-block");
    do {
      const std::string name = Word();
      const ModuleEntry* entry = FindModule(name);
      if (entry == nullptr) return Unknown(name);
      if (!entry->of_block)
        return Wrong(absl::StrCat(name, " is a module of a program; it stands outside of each-block"));
      const absl::StatusOr<OptionText> options = Options();
      if (!options.ok()) return options.status();
      absl::StatusOr<BlockModule> module = entry->make_block(*options);
      if (!module.ok()) return Wrong(std::string(module.status().message()));
      modules.push_back(*std::move(module));
    } while (Take('|'));
    if (!Take(')')) return Wrong("wanted | or )");
    return modules;
  }

  absl::StatusOr<OptionText> Options() {
    OptionText options;
    while (std::isalpha(static_cast<unsigned char>(Peek()))) {
      const std::string key = Word();
      if (!Take('=')) return Wrong(absl::StrCat("wanted = after ", key));
      options.emplace_back(key, Word());
      if (options.back().second.empty()) return Wrong(absl::StrCat("wanted a value for ", key));
    }
    return options;
  }

  char Peek() {
    while (at_ < text_.size() && std::isspace(static_cast<unsigned char>(text_[at_]))) ++at_;
    return at_ < text_.size() ? text_[at_] : '\0';
  }

  bool Take(char c) {
    if (Peek() != c) return false;
    ++at_;
    return true;
  }

  std::string Word() {
    Peek();
    const size_t from = at_;
    while (at_ < text_.size() && (std::isalnum(static_cast<unsigned char>(text_[at_])) || text_[at_] == '-' ||
                                  text_[at_] == ',' || text_[at_] == '_')) {
      ++at_;
    }
    return std::string(text_.substr(from, at_ - from));
  }

  absl::Status Wrong(const std::string& what) const {
    return absl::InvalidArgumentError(absl::StrCat("space, column ", at_ + 1, ": ", what));
  }
  absl::Status Unknown(const std::string& name) const {
    return Wrong(absl::StrCat("there is no module \"", name, "\"; known are each-block, ",
                              absl::StrJoin(ModuleNames(), ", ")));
  }

  absl::string_view text_;
  size_t at_ = 0;
};

}  // namespace

absl::StatusOr<Space> ParseSpace(absl::string_view text) { return Parser(text).Parse(); }

std::string DefaultSpace(const Target& target) {
  const ModuleEntry* entry = FindModule(target.name);
  return entry == nullptr ? "" : target.name;
}

}  // namespace kiln
