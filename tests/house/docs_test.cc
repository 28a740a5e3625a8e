// Tests pages of docs/ and citations: the targets of relative links and the paths in back quotes must exist, and so
// must the pages and design decisions that sources cite.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <regex>
#include <set>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "tests/house/source_tree.h"

namespace kiln::house {
namespace {

// Returns the paths of all files of the tree and of their folders.
std::set<std::string> PathsOf(const std::vector<TextFile>& tree) {
  std::set<std::string> paths;
  for (const TextFile& file : tree) {
    std::filesystem::path path(file.path);
    for (; !path.empty(); path = path.parent_path()) paths.insert(path.generic_string());
  }
  return paths;
}

// Returns the first group of each match of the regex in the line. Each match must contain `part`: lines without it are
// passed over quickly.
std::vector<std::string> Matches(const std::string& line, absl::string_view part, const std::regex& regex) {
  std::vector<std::string> found;
  if (!absl::StrContains(line, part)) return found;
  for (std::sregex_iterator it(line.begin(), line.end(), regex), end; it != end; ++it)
    found.push_back((*it)[1]);
  return found;
}

// True if `path` names a file, a folder, a source without its `.cc`, or a decision by its number (docs/decisions/0017).
bool Exists(const std::set<std::string>& paths, const std::string& path) {
  if (paths.contains(path) || paths.contains(path + ".cc")) return true;
  static const std::regex decision("docs/decisions/[0-9]{4}");
  const auto next = paths.lower_bound(path + "-");
  return std::regex_match(path, decision) && next != paths.end() && absl::StartsWith(*next, path + "-");
}

// Returns the dead links and paths of a page, each as "NUMBER: TEXT". Fenced samples are left out.
//  - A link is read from the folder of its page; addresses and links within the page are left out.
//  - Back quotes hold a path if its first part is a folder of the tree. What follows a blank, a colon, a comma or
//    a pattern's first character (*, <, {) is left out.
std::vector<std::string> DeadLinks(const TextFile& page, const std::set<std::string>& paths) {
  static const std::regex link(R"(\]\(([^)#\s]+))");
  static const std::regex quoted(R"(`([\w.-]+/[^`\s:,*<{]*))");
  const std::filesystem::path folder = std::filesystem::path(page.path).parent_path();
  std::vector<std::string> dead;
  bool fenced = false;
  for (size_t i = 0; i < page.lines.size(); ++i) {
    const std::string& line = page.lines[i];
    if (absl::StartsWith(line, "```")) fenced = !fenced;
    if (fenced) continue;
    for (const std::string& target : Matches(line, "](", link)) {
      if (absl::StrContains(target, "://")) continue;
      std::string path = (folder / target).lexically_normal().generic_string();
      if (absl::EndsWith(path, "/")) path.pop_back();
      if (!Exists(paths, path)) dead.push_back(absl::StrCat(i + 1, ": ", target));
    }
    for (const std::string& text : Matches(line, "`", quoted)) {
      std::string path = text.substr(0, text.find_last_not_of("./") + 1);
      if (absl::EndsWith(text, "_") || absl::EndsWith(text, "-")) path = text.substr(0, text.rfind('/'));
      if (!paths.contains(path.substr(0, path.find('/')))) continue;
      if (!Exists(paths, path)) dead.push_back(absl::StrCat(i + 1, ": ", text));
    }
  }
  return dead;
}

TEST(Docs, LeadSomewhere) {
  const std::vector<TextFile> tree = ReadTree();
  const std::set<std::string> paths = PathsOf(tree);
  size_t pages = 0;
  for (const TextFile& file : tree) {
    if (!absl::EndsWith(file.path, ".md")) continue;
    ++pages;
    for (const std::string& dead : DeadLinks(file, paths)) {
      ADD_FAILURE() << file.path << ":" << dead
                    << " is no file or folder of the tree; write the path that it has now";
    }
  }
  EXPECT_GT(pages, 20u);
}

// Tests that the pages of docs/ and the design decisions that sources and Markdown pages cite, such as "design D8",
// exist.
TEST(Docs, WhatIsCitedIsThere) {
  static const std::regex page(R"((?:^|[^\w./])(docs/\w[\w./-]*))"), number(R"(\bdesign (D\d+)\b)");
  const std::vector<TextFile> tree = ReadTree();
  const std::set<std::string> paths = PathsOf(tree);
  const auto is_design = [](const TextFile& file) { return file.path == "docs/internals/design.md"; };
  const auto design = std::find_if(tree.begin(), tree.end(), is_design);
  ASSERT_NE(design, tree.end());
  const std::string decisions = absl::StrJoin(design->lines, "\n");
  size_t cited = 0;
  for (const TextFile& file : tree) {
    if (file.path == "tests/house/docs_test.cc" || (!file.IsSource() && !absl::EndsWith(file.path, ".md")))
      continue;
    for (size_t i = 0; i < file.lines.size(); ++i) {
      for (std::string path : Matches(file.lines[i], "docs/", page)) {
        path.resize(path.find_last_not_of("./-") + 1);
        EXPECT_TRUE(Exists(paths, path)) << file.path << ":" << i + 1 << ": there is no " << path;
        ++cited;
      }
      for (const std::string& d : Matches(file.lines[i], "design D", number)) {
        EXPECT_TRUE(absl::StrContains(decisions, absl::StrCat("**", d, ". ")))
            << file.path << ":" << i + 1 << ": " << design->path << " has no " << d;
      }
    }
  }
  EXPECT_GT(cited, 20u);
}

// Tests that lines of Markdown pages have at most 160 columns, but for tables and fenced samples, which cannot be
// wrapped.
TEST(Docs, LinesHaveAtMost160Columns) {
  constexpr ptrdiff_t kMaxColumns = 160;
  for (const TextFile& file : ReadTree()) {
    if (!absl::EndsWith(file.path, ".md")) continue;
    bool fenced = false;
    for (size_t i = 0; i < file.lines.size(); ++i) {
      const std::string& line = file.lines[i];
      if (absl::StartsWith(line, "```")) fenced = !fenced;
      if (fenced || absl::StartsWith(line, "|")) continue;
      const auto columns =  // not bytes: those that go on a character of UTF-8 begin with the bits 10
          std::count_if(line.begin(), line.end(), [](char c) { return (c & 0xC0) != 0x80; });
      EXPECT_LE(columns, kMaxColumns) << file.path << ":" << i + 1 << " has " << columns << " columns";
    }
  }
}

TEST(Docs, DecisionsHaveNumberStatusAndDate) {
  size_t decisions = 0;
  for (const TextFile& file : ReadTree()) {
    if (!absl::StartsWith(file.path, "docs/decisions/")) continue;
    ++decisions;
    const int number = std::stoi(file.path.substr(std::string("docs/decisions/").size(), 4));
    ASSERT_GE(file.lines.size(), 3u) << file.path;
    EXPECT_TRUE(absl::StartsWith(file.lines[0], absl::StrCat("# ", number, ". "))) << file.path;
    EXPECT_TRUE(std::regex_search(file.lines[2], std::regex(R"(^Status: .+ · Date: \d{4}-\d{2}-\d{2})")))
        << file.path;
    EXPECT_NE(std::find(file.lines.begin(), file.lines.end(), "## Decision"), file.lines.end()) << file.path;
  }
  EXPECT_GE(decisions, 21u);
}

TEST(Docs, WhatLeadsNowhereIsFound) {
  const std::set<std::string> paths = {"docs", "docs/a.md", "docs/decisions/0001-one.md",
                                       "lang", "lang/x.h",  "lang/y.cc"};
  const auto count = [&paths](const std::string& line) {
    return DeadLinks({"docs/a.md", {line}}, paths).size();
  };
  EXPECT_EQ(count("[a](a.md), [b](../lang/x.h#top), [c](https://example.org/z), [d](#here)"), 0u);
  EXPECT_EQ(count("[a](b.md) and [b](x.h)"), 2u);
  EXPECT_EQ(count("`lang/x.h`, `lang/`, `lang/y --help`, `lang/y.cc:12`, `other/z.h`"), 0u);
  EXPECT_EQ(count("`lang/z.h` and `lang/w --help`"), 2u);
  EXPECT_EQ(count("`docs/decisions/0001`"), 0u);
  EXPECT_EQ(count("`docs/decisions/0002`"), 1u);
  EXPECT_EQ(DeadLinks({"docs/a.md", {"```", "`lang/z.h`", "```", "`lang/z.h`"}}, paths).size(), 1u);
}

}  // namespace
}  // namespace kiln::house
