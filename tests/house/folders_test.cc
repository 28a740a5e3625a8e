// Tests that folders have at most 20 units, that folders do not include each other in a loop, and that ctest runs every
// test.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "nlohmann/json.hpp"
#include "tests/house/include_line.h"
#include "tests/house/source_tree.h"

namespace kiln::house {
namespace {

using Graph = std::map<std::string, std::set<std::string>>;  // folder: the folders that it includes

constexpr size_t kMaxUnits = 20;  // of a folder: a header and its source are one

// True for lang/primitives and the folders of tests, which may have more units than others, since one finds their files
// by name.
bool MayBeLong(absl::string_view folder) {
  return folder == "lang/primitives" || folder == "tests" || absl::StartsWith(folder, "tests/");
}

// Returns a message "FOLDER has N units, .." for each folder that has more than 20 units, unless MayBeLong. A header
// and its source are one unit.
std::vector<std::string> TooLong(const std::vector<std::string>& sources) {
  std::map<std::string, std::set<std::string>> units;
  for (const std::string& path : sources) units[FolderOf(path)].insert(path.substr(0, path.rfind('.')));
  std::vector<std::string> wrong;
  for (const auto& [folder, names] : units) {
    if (names.size() > kMaxUnits && !MayBeLong(folder))
      wrong.push_back(absl::StrCat(folder, " has ", names.size(), " units, the limit is ", kMaxUnits,
                                   "; part it by what is in it"));
  }
  return wrong;
}

// Returns the groups of folders that import each other in a loop.
std::vector<std::string> Loops(const Graph& graph) {
  std::map<std::string, std::set<std::string>> reached;
  for (const auto& [from, to] : graph) {
    std::vector<std::string> next(to.begin(), to.end());
    while (!next.empty()) {
      const std::string folder = next.back();
      next.pop_back();
      if (!reached[from].insert(folder).second) continue;
      if (const auto at = graph.find(folder); at != graph.end())
        next.insert(next.end(), at->second.begin(), at->second.end());
    }
  }
  std::set<std::string> loops;
  for (const auto& [from, all] : reached) {
    std::vector<std::string> loop;
    for (const std::string& to : all) {
      if (reached[to].contains(from)) loop.push_back(to);
    }
    if (!loop.empty()) loops.insert(absl::StrJoin(loop, " "));
  }
  return {loops.begin(), loops.end()};
}

bool IsOfKiln(absl::string_view path) {
  static const std::vector<std::string> kParts = {"lang/",   "trace/",    "modules/", "validator/",
                                                  "search/", "backends/", "api/",     "tools/",
                                                  "bench/",  "examples/", "testing/"};
  return std::any_of(kParts.begin(), kParts.end(),
                     [&](const std::string& part) { return absl::StartsWith(path, part); });
}

TEST(Folders, HaveAtMostTwentyUnits) {
  std::vector<std::string> sources;
  for (const TextFile& file : ReadTree()) {
    if (file.IsSource()) sources.push_back(file.path);
  }
  EXPECT_THAT(TooLong(sources), testing::IsEmpty());
}

TEST(Folders, ImportEachOtherWithoutALoop) {
  Graph graph;
  for (const TextFile& file : ReadTree()) {
    if (!file.IsSource() || !IsOfKiln(file.path)) continue;
    const std::string from = FolderOf(file.path);
    for (const std::string& line : file.lines) {
      const auto include = ParseInclude(line);
      if (include && IsOfKiln(include->path) && FolderOf(include->path) != from)
        graph[from].insert(FolderOf(include->path));
    }
  }
  EXPECT_THAT(graph, testing::Contains(testing::Key("search/run")));
  EXPECT_THAT(Loops(graph), testing::IsEmpty());
}

TEST(Folders, LongOnesAndLoopsAreFound) {
  std::vector<std::string> sources;
  for (size_t i = 0; i < kMaxUnits; ++i) {
    sources.push_back(absl::StrCat("a/u", i, ".h"));
    sources.push_back(absl::StrCat("a/u", i, ".cc"));
  }
  EXPECT_THAT(TooLong(sources), testing::IsEmpty());
  sources.push_back("a/one_more.cc");
  EXPECT_THAT(TooLong(sources),
              testing::ElementsAre("a has 21 units, the limit is 20; part it by what is in it"));
  EXPECT_THAT(Loops({{"a", {"b"}}, {"b", {"c", "d"}}, {"c", {"a"}}, {"e", {"a"}}}),
              testing::ElementsAre("a b c"));
  EXPECT_THAT(Loops({{"a", {"b", "c"}}, {"b", {"c"}}}), testing::IsEmpty());
}

// Returns the paths of the sources that a compiled file contains: the file itself, or for a file that CMake's
// UNITY_BUILD generated, the sources that this file includes.
std::vector<std::string> SourcesOf(const std::filesystem::path& compiled) {
  std::vector<std::string> sources;
  const auto add = [&](const std::filesystem::path& path) {
    sources.push_back(path.lexically_relative(KILN_SOURCE_DIR));
  };
  if (compiled.parent_path().filename() != "Unity") {
    add(compiled);
    return sources;
  }
  std::ifstream in(compiled);
  for (std::string line; std::getline(in, line);) {
    if (absl::StartsWith(line, "#include \"")) add(line.substr(10, line.size() - 11));
  }
  return sources;
}

// Tests that each *_test.cc is compiled for an executable that ctest runs, since CMake's globs might miss one. In a
// build without LLVM, tests that need LLVM are not expected.
TEST(Folders, EveryTestIsRunByCtest) {
  const std::filesystem::path build(KILN_BUILD_DIR);
  std::map<std::string, std::string> target_of;  // a source: the executable that it is compiled for
  std::ifstream commands(build / "compile_commands.json");
  ASSERT_TRUE(commands) << build << " has no compile_commands.json";
  for (const auto& entry : nlohmann::json::parse(commands)) {
    const std::string command = entry.at("command"), mark = " -o CMakeFiles/";  // TARGET.dir/...
    const size_t begin = command.rfind(mark), end = command.find(".dir/", begin);
    if (end == std::string::npos) continue;
    for (const std::string& source : SourcesOf(entry.at("file").get<std::string>()))
      target_of[source] = command.substr(begin + mark.size(), end - begin - mark.size());
  }
  std::ifstream in(build / "CTestTestfile.cmake");
  const std::string ctest{std::istreambuf_iterator<char>(in), {}};
  const bool with_llvm = absl::StrContains(ctest, "kiln_backends_test");
  const std::set<std::string> need_llvm = {"tests/api", "tests/backends", "tests/baseline", "tests/gpu",
                                           "tests/e2e", "tests/tools",    "tests/long"};
  for (const TextFile& file : ReadTree()) {
    if (!absl::EndsWith(file.path, "_test.cc")) continue;
    if (!with_llvm && need_llvm.contains(file.path.substr(0, file.path.find('/', 6)))) continue;
    const auto target = target_of.find(file.path);
    if (target == target_of.end()) {
      ADD_FAILURE() << file.path << " is compiled for no test: see the globs of CMakeLists.txt";
    } else {
      EXPECT_TRUE(absl::StrContains(ctest, absl::StrCat("add_test([=[", target->second, "]=]")))
          << file.path << " is compiled for " << target->second << ", which ctest does not run";
    }
  }
}

}  // namespace
}  // namespace kiln::house
