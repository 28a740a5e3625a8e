// Tests all sources: their number of lines, one #pragma once per header, no paths outside of the repository, no hidden
// random seeds, and no tests that assert a speed.
#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "tests/house/source_tree.h"

namespace kiln::house {
namespace {

// True for a file of tools/commands/ that defines a subcommand of `kiln`.
bool DefinesCommand(const TextFile& file) {
  return absl::StartsWith(file.path, "tools/commands/") &&
         std::any_of(file.lines.begin(), file.lines.end(),
                     [](const std::string& line) { return absl::StartsWith(line, "Action Add"); });
}

// Returns the number of lines that a file must stay below: 200 for files in modules/, modules/tiling/ and modules/gpu/,
// 100 for other files below modules/ and for commands, 200 for other headers, 500 for other sources.
size_t LineLimit(const TextFile& file) {
  const std::vector<std::string> parts = absl::StrSplit(file.path, '/');
  if (parts[0] == "modules")
    return parts.size() == 2 || parts[1] == "tiling" || parts[1] == "gpu" ? 200 : 100;
  if (DefinesCommand(file)) return 100;
  return file.IsHeader() ? 200 : 500;
}

TEST(Files, StayBelowTheirLimitsOfLines) {
  for (const TextFile& file : ReadTree()) {
    if (file.IsSource()) EXPECT_LT(file.lines.size(), LineLimit(file)) << file.path;
  }
}

// Tests that DefinesCommand finds at least 16 files, so that the limit of lines for commands applies to some.
TEST(Files, OfTheCommandsAreFound) {
  const std::vector<TextFile> tree = ReadTree();
  EXPECT_GE(std::count_if(tree.begin(), tree.end(), DefinesCommand), 16);
}

TEST(Files, HeadersAreIncludedOnce) {
  for (const TextFile& file : ReadTree()) {
    if (!file.IsHeader()) continue;
    bool once = false;
    for (const std::string& line : file.lines) once = once || line == "#pragma once";
    EXPECT_TRUE(once) << file.path << " lacks #pragma once";
  }
}

TEST(Files, NameNothingOutsideTheRepository) {
  const std::string outside[] = {absl::StrCat("..", "/shared"), absl::StrCat("/work", "/")};
  for (const TextFile& file : ReadTree()) {
    for (size_t i = 0; i < file.lines.size(); ++i) {
      for (const std::string& name : outside) {
        EXPECT_FALSE(absl::StrContains(file.lines[i], name))
            << file.path << ":" << i + 1 << " names " << name;
      }
    }
  }
}

// Tests that no source draws a random seed from the system or the clock, but for testing/drawn_seed.cc, which prints
// how to repeat a failure, and search/database/store.cc, which draws names of rows.
TEST(Files, DrawNoSeedUnseen) {
  const std::string sources[] = {absl::StrCat("random", "_device"), absl::StrCat("time(", "nullptr)"),
                                 absl::StrCat("time(", "NULL)"), absl::StrCat("absl::Bit", "Gen")};
  for (const TextFile& file : ReadTree()) {
    if (!file.IsSource() || file.path == "testing/drawn_seed.cc") continue;
    if (file.path == "search/database/store.cc") continue;  // names of rows, no seed
    for (size_t i = 0; i < file.lines.size(); ++i) {
      for (const std::string& source : sources) {
        EXPECT_FALSE(absl::StrContains(file.lines[i], source))
            << file.path << ":" << i + 1 << " draws from " << source << "; use DrawnSeed()";
      }
    }
  }
}

bool ContainsAny(absl::string_view text, const std::vector<std::string>& words) {
  return std::any_of(words.begin(), words.end(),
                     [&](const std::string& word) { return absl::StrContains(text, word); });
}

// Returns the names of values that depend on speed: "gflops", and the variables that these C++ statements set from a
// clock.
std::set<std::string> NamesOfSpeeds(const std::vector<std::string>& statements) {
  static const std::vector<std::string> kClocks = {"steady_clock::now", "MonotonicSeconds", "clock_gettime",
                                                   "CpuSeconds", "absl::Now"};
  std::set<std::string> names = {"gflops"};
  for (const std::string& statement : statements) {
    const size_t equals = statement.find(" = ");
    if (equals == std::string::npos || !ContainsAny(statement.substr(equals), kClocks)) continue;
    const size_t begin = statement.find_last_of(" \n(", equals - 1) + 1;
    names.insert(statement.substr(begin, equals - begin));
  }
  return names;
}

// Tests that no test compares a time or a rate by EXPECT_LT and the like, since such a test fails on a busy machine.
// Comparisons with 0 are allowed.
TEST(Files, OfTestsAssertNoSpeed) {
  static const std::vector<std::string> kComparisons = {"_LT(", "_LE(", "_GT(", "_GE(", "_NEAR("};
  for (const TextFile& file : ReadTree()) {
    if (!absl::StartsWith(file.path, "tests/") || !absl::EndsWith(file.path, "_test.cc")) continue;
    const std::vector<std::string> statements = absl::StrSplit(absl::StrJoin(file.lines, "\n"), ';');
    const std::set<std::string> speeds = NamesOfSpeeds(statements);
    for (const std::string& statement : statements) {
      if (!ContainsAny(statement, kComparisons) || absl::EndsWith(statement, ", 0)")) continue;
      for (const absl::string_view word : absl::StrSplit(statement, absl::ByAnyChar(" \n()*/+-,.")))
        EXPECT_FALSE(speeds.contains(std::string(word))) << file.path << " asserts a speed:" << statement;
    }
  }
}

}  // namespace
}  // namespace kiln::house
