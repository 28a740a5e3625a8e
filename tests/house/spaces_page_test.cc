// docs/reference/spaces.md: its spaces parse, and its table has every module with its options.
#include <gtest/gtest.h>

#include <map>
#include <regex>
#include <set>

#include "absl/strings/match.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "modules/space.h"
#include "tests/support/page.h"

namespace kiln {
namespace {

const std::string kPage = "docs/reference/spaces.md";

// What stands in back quotes.
std::set<std::string> Quoted(const std::string& text) {
  static const std::regex quoted("`([^`]+)`");
  std::set<std::string> words;
  for (std::sregex_iterator it(text.begin(), text.end(), quoted), end; it != end; ++it)
    words.insert((*it)[1]);
  return words;
}

TEST(SpacesPage, SpacesParse) {
  const std::vector<std::string> spaces = Fenced(kPage, "kiln-space");
  EXPECT_FALSE(spaces.empty());
  for (const std::string& text : spaces) {
    const absl::StatusOr<Space> space = ParseSpace(absl::StripSuffix(text, "\n"));
    EXPECT_TRUE(space.ok()) << space.status() << "\n" << text;
  }
}

TEST(SpacesPage, ModulesAreThoseThatAreRegistered) {
  std::map<std::string, std::set<std::string>> listed, registered;
  bool inside = false;
  for (const std::string& line : LinesOf(kPage)) {
    if (absl::StartsWith(line, "| module |")) inside = true;
    if (!absl::StartsWith(line, "|")) inside = false;
    const std::vector<std::string> cells = absl::StrSplit(line, '|');
    if (!inside || cells.size() < 3) continue;
    const std::set<std::string> names = Quoted(cells[1]);
    if (names.size() == 1) listed[*names.begin()] = Quoted(cells[2]);
  }
  for (const std::string& name : ModuleNames()) {
    const std::vector<std::string>& options = FindModule(name)->options;
    registered[name] = {options.begin(), options.end()};
  }
  EXPECT_EQ(listed, registered);
}

}  // namespace
}  // namespace kiln
