#include "modules/space.h"

#include <cctype>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "lang/base/aliases.h"
#include "lang/base/unknown_name.h"
#include "modules/space_tokens.h"

namespace kiln {
namespace {

class Parser : private SpaceTokens {
 public:
  Parser(absl::string_view text, const ModuleLookup& find) : SpaceTokens(text), find_(find) {}

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
      const ModuleEntry* entry = find_(name);
      if (entry == nullptr) return Unknown(name);
      if (entry->of_block)
        return Wrong(absl::StrCat(name, " is a module of a block; write each-block(", name, ")"));
      const absl::StatusOr<OptionText> options = Options(OptionsOf(name));
      if (!options.ok()) return options.status();
      absl::StatusOr<Space> space = entry->make_space(*options);
      if (!space.ok()) return Wrong(std::string(space.status().message()));
      items.emplace_back(entry->name, *std::move(space));
    } while (Take('|'));
    if (!AtEnd()) return Wrong(absl::StrCat("found '", std::string(1, Peek()), "', wanted | or the end"));
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

  // Returns the items that a named space stands for on the target, if the text is the name of one with valid options.
  // Otherwise returns the text.
  std::string Expand(absl::string_view text, const Target& target) {
    const std::string name = Word();
    const ModuleEntry* entry = find_(name);
    if (entry == nullptr || !entry->text) return std::string(text);
    const absl::StatusOr<OptionText> options = Options(OptionsOf(name));
    if (!options.ok()) return std::string(text);
    absl::StatusOr<std::string> items = entry->text(*options, target);
    return items.ok() ? *std::move(items) : std::string(text);
  }

 private:
  absl::StatusOr<std::vector<BlockModule>> BlockModules() {
    std::vector<BlockModule> modules;
    if (!Take('(')) return Wrong("wanted ( after each-block");
    do {
      const std::string name = Word();
      const ModuleEntry* entry = find_(name);
      if (entry == nullptr) return Unknown(name);
      if (!entry->of_block)
        return Wrong(absl::StrCat(name, " is a module of a program; it stands outside of each-block"));
      const absl::StatusOr<OptionText> options = Options({});
      if (!options.ok()) return options.status();
      absl::StatusOr<BlockModule> module = entry->make_block(*options);
      if (!module.ok()) return Wrong(std::string(module.status().message()));
      modules.push_back(*std::move(module));
    } while (Take('|'));
    if (!Take(')')) return Wrong("wanted | or )");
    return modules;
  }

  // Returns the options that an older name of a space stands for, such as dots=0 for cpu-avx2. Returns none for other
  // names.
  static OptionText OptionsOf(absl::string_view name) {
    OptionText options;
    const std::vector<absl::string_view> words = absl::StrSplit(CurrentName(NameKind::kSpace, name), ' ');
    for (size_t i = 1; i < words.size(); ++i) options.push_back(absl::StrSplit(words[i], '='));
    return options;
  }

  absl::StatusOr<OptionText> Options(OptionText options) {
    while (std::isalpha(static_cast<unsigned char>(Peek()))) {
      const std::string key = Word();
      if (!Take('=')) return Wrong(absl::StrCat("wanted = after ", key));
      options.emplace_back(key, Word());
      if (options.back().second.empty()) return Wrong(absl::StrCat("wanted a value for ", key));
    }
    return options;
  }

  absl::Status Wrong(const std::string& what) const {
    return absl::InvalidArgumentError(absl::StrCat("space:", line(), ":", column(), ": ", what));
  }
  absl::Status Unknown(const std::string& name) const {
    std::vector<std::string> known = ModuleNames();
    known.insert(known.begin(), "each-block");
    return Wrong(UnknownName("module", name, known));
  }
  const ModuleLookup& find_;
};

}  // namespace

absl::StatusOr<Space> ParseSpace(absl::string_view text, const ModuleLookup& find) {
  return Parser(text, find).Parse();
}

std::string ExpandSpace(absl::string_view text, const Target& target) {
  SpaceTokens tokens(text);
  std::vector<std::string> items;
  do {
    const absl::string_view item = tokens.Item();
    items.push_back(Parser(item, FindModule).Expand(item, target));
  } while (tokens.Take('|'));
  return absl::StrJoin(items, " | ");
}

namespace internal {

Space SpaceOfText(std::function<std::string(const Target&)> text) {
  return [text = std::move(text)](Schedule& s) {
    const absl::StatusOr<Space> space = ParseSpace(text(s.target()));
    if (!space.ok()) return s.Fail(space.status());
    (*space)(s);
  };
}

}  // namespace internal

std::string DefaultSpace(const Target& target) {
  return FindModule(target.name) == nullptr ? "" : target.name;
}

}  // namespace kiln
