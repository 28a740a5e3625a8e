// Tests docs/reference/spaces.md: its spaces parse, it shows the default spaces as they are, and its generated table
// has every module with its options.
#include <gmock/gmock.h>

#include "absl/algorithm/container.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "modules/space.h"
#include "tests/house/source_tree.h"
#include "tests/support/page.h"

namespace kiln {
namespace {

const std::string kPage = "docs/reference/spaces.md";

// Returns what a module does, for the table of the page: the first sentence of the comment at the top of the file that
// registers the module, behind the colon after its name. Returns "" if there is no such comment.
std::string DoneBy(const std::string& module, const std::vector<house::TextFile>& tree) {
  const std::string registers = absl::StrCat("KILN_MODULE(\"", module, "\"");
  for (const house::TextFile& file : tree) {
    if (!absl::StartsWith(file.path, "modules/") || !file.IsSource()) continue;
    if (!absl::c_any_of(file.lines, [&](const auto& l) { return absl::StartsWith(l, registers); })) continue;
    std::string comment;
    for (absl::string_view line : file.lines) {
      if (!absl::ConsumePrefix(&line, "// ")) break;
      absl::StrAppend(&comment, line, " ");
    }
    const size_t name_end = comment.find(": "), end = comment.find(". ");
    if (end == comment.npos || name_end > end) return "";
    return comment.substr(name_end + 2, end - name_end - 2);
  }
  return "";
}

TEST(SpacesPage, SpacesParse) {
  const std::vector<std::string> spaces = Fenced(kPage, "kiln-space");
  EXPECT_FALSE(spaces.empty());
  for (const std::string& text : spaces) {
    const absl::StatusOr<Space> space = ParseSpace(absl::StripSuffix(text, "\n"));
    EXPECT_TRUE(space.ok()) << space.status() << "\n" << text;
  }
}

TEST(SpacesPage, DefaultSpacesAreAsWritten) {
  std::vector<std::string> shown;
  for (const std::string& text : Fenced(kPage, "kiln-space"))
    shown.push_back(absl::StrJoin(absl::StrSplit(text, absl::ByAnyChar(" \n"), absl::SkipEmpty()), " "));
  EXPECT_THAT(shown, testing::Contains(ExpandSpace("cpu", Target())));
  EXPECT_THAT(shown, testing::Contains(ExpandSpace("cuda", Target())));
}

TEST(SpacesPage, ModulesAreThoseThatAreRegistered) {
  const std::vector<house::TextFile> tree = house::ReadTree();
  std::vector<std::string> rows;
  for (const std::string& name : ModuleNames()) {
    const std::string does = DoneBy(name, tree);
    EXPECT_NE(does, "") << "the file of " << name << " begins with no comment \"// Name: what it does.\"";
    const auto quoted = [](std::string* out, const std::string& option) {
      absl::StrAppend(out, "`", option, "`");
    };
    const std::string options = absl::StrJoin(FindModule(name)->options, " ", quoted);
    rows.push_back(absl::StrCat("| `", name, "` | ", options, options.empty() ? "" : " ", "| ", does, " |"));
  }
  ExpectTable(kPage, "| module | options | does |", rows);
}

}  // namespace
}  // namespace kiln
