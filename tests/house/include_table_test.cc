// Holds the table of who may include whom, by reading every #include line. The table is below; everything
// else here only applies it.
#include <gtest/gtest.h>

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/strip.h"
#include "tests/house/source_tree.h"

namespace kiln::house {
namespace {

struct Row {
  std::string folder;                    // the longest row that a file's path starts with is its row
  std::vector<std::string> ours;         // what it may include of Kiln: paths or folders
  std::vector<std::string> third_party;  // beyond anyone's
};

const std::vector<std::string> kAnyone = {"absl/",        "fmt/",          "spdlog/",
                                          "build_info.h", "header_hash.h", "test_paths.h"};
const std::vector<std::string> kAllOfKiln = {"lang/",   "trace/",    "modules/", "validator/",
                                             "search/", "backends/", "api/",     "tools/",
                                             "tests/",  "examples/", "bench/"};
const std::vector<std::string> kTestTools = {"gtest/", "gmock/",    "rapidcheck", "isl/",      "CLI/",
                                             "mlir/",  "sqlite3.h", "nlohmann/",  "benchmark/"};

const std::vector<Row> kTable = {
    {"lang/", {"lang/"}, {"boost/"}},
    {"trace/", {"trace/", "lang/"}, {}},
    {"modules/",
     {"modules/allowed.h", "modules/default_modules.h", "modules/layout_map.h", "modules/module.h",
      "modules/registry.h", "modules/space.h", "modules/space_tokens.h", "modules/untouched.h", "lang/"},
     {}},
    {"modules/tiling/",
     {"modules/tiling/", "modules/default_modules.h", "modules/layout_map.h", "modules/untouched.h", "lang/"},
     {}},
    {"validator/", {"validator/", "lang/", "trace/"}, {}},
    {"search/",
     {"search/", "lang/", "trace/", "modules/", "validator/"},
     {"boost/", "nlohmann/", "oneapi/", "xgboost/"}},
    {"search/database/",
     {"search/", "lang/", "trace/", "modules/", "validator/"},
     {"boost/", "nlohmann/", "sqlite3.h"}},
    {"backends/",
     {"backends/", "lang/", "trace/", "validator/proof/prover.h", "validator/numeric/tolerance.h",
      "search/measure/measurer.h", "search/outcome.h"},
     {"mlir/", "llvm/", "lld/", "hwloc.h", "hwloc/", "seccomp.h", "tbb/"}},
    {"backends/runner/",
     {"backends/", "lang/", "trace/", "validator/proof/prover.h", "validator/numeric/tolerance.h",
      "search/measure/measurer.h", "search/outcome.h"},
     {"hwloc.h", "hwloc/", "seccomp.h"}},
    {"api/", {"api/", "lang/", "trace/", "modules/", "validator/", "search/", "backends/"}, {"nlohmann/"}},
    {"tools/",
     {"tools/", "api/errors.h", "api/event.h", "api/json.h", "api/machine.h", "api/model.h", "api/records.h",
      "api/session.h", "api/text.h", "api/tuning.h"},
     {"CLI/"}},
    {"bench/", kAllOfKiln, {"CLI/", "benchmark/", "nlohmann/"}},
    {"bench/versus/", {}, {"oneapi/"}},
    {"examples/", kAllOfKiln, {}},
    {"tests/", kAllOfKiln, kTestTools},
};

constexpr char kOneFileIncludes[] = "xgboost/";  // besides the table: XGBoost is behind one file

bool StartsWithAny(absl::string_view path, const std::vector<std::string>& prefixes) {
  for (const std::string& prefix : prefixes) {
    if (absl::StartsWith(path, prefix)) return true;
  }
  return false;
}

// <vector>, <unistd.h>, <sys/mman.h>: of the C++ library or the system.
bool IsSystem(absl::string_view included) {
  static const std::set<std::string> kNotSystem = {"sqlite3.h", "hwloc.h", "seccomp.h", "rapidcheck.h",
                                                   "cuda.h"};
  if (!absl::StrContains(included, '/')) return !kNotSystem.contains(std::string(included));
  return StartsWithAny(included, {"sys/", "linux/", "asm/", "netinet/", "arpa/", "net/", "gnu/"});
}

// The path of an include line with how it was written, '<' or '"'; nothing for any other line.
struct Include {
  std::string path;
  bool quoted;
};
std::optional<Include> ParseInclude(absl::string_view line) {
  line = absl::StripLeadingAsciiWhitespace(line);
  if (!absl::ConsumePrefix(&line, "#")) return std::nullopt;
  line = absl::StripLeadingAsciiWhitespace(line);
  if (!absl::ConsumePrefix(&line, "include")) return std::nullopt;
  line = absl::StripLeadingAsciiWhitespace(line);
  const bool quoted = absl::ConsumePrefix(&line, "\"");
  if (!quoted && !absl::ConsumePrefix(&line, "<")) return std::nullopt;
  const size_t end = line.find(quoted ? '"' : '>');
  if (end == absl::string_view::npos) return std::nullopt;
  return Include{std::string(line.substr(0, end)), quoted};
}

// What is wrong with this line in this file; empty if nothing is.
std::string Violation(const std::string& file, const std::string& line) {
  const auto include = ParseInclude(line);
  if (!include) return "";
  const Row* row = nullptr;
  for (const Row& candidate : kTable) {
    if (absl::StartsWith(file, candidate.folder)) row = &candidate;
  }
  if (row == nullptr) return absl::StrCat(file, " is in no folder of the table");
  if (!include->quoted && IsSystem(include->path)) return "";
  if (StartsWithAny(include->path, kAnyone) || StartsWithAny(include->path, row->ours) ||
      StartsWithAny(include->path, row->third_party)) {
    return "";
  }
  return absl::StrCat(file, " includes ", include->path, ", but ", row->folder, " may include only ",
                      absl::StrJoin(row->ours, " "), row->third_party.empty() ? "" : " and ",
                      absl::StrJoin(row->third_party, " "));
}

TEST(IncludeTable, NamesTheFileThatBreaksItAndWhatItMayInclude) {
  EXPECT_EQ(Violation("trace/text.cc", "#include \"search/outcome.h\""),
            "trace/text.cc includes search/outcome.h, but trace/ may include only trace/ lang/");
  EXPECT_NE(Violation("modules/inline/auto_inline.cc", "#include \"trace/trace.h\""), "");
  EXPECT_NE(Violation("modules/inline/auto_inline.cc", "#include \"modules/tiling/tiles.h\""), "");
  EXPECT_NE(Violation("modules/tiling/tiles.h", "#include \"modules/space.h\""), "");
  EXPECT_NE(Violation("lang/a.h", "#include \"mlir/IR/Value.h\""), "");
  EXPECT_NE(Violation("search/run/tune.cc", "#include <sqlite3.h>"), "");
  EXPECT_NE(Violation("backends/runner/a.cc", "#include \"llvm/ADT/STLExtras.h\""), "");
  EXPECT_NE(Violation("backends/cpu/a.cc", "#include \"search/run/tune.h\""), "");
  EXPECT_NE(Violation("lang/primitives/split.cc", "#include \"split.h\""), "");
  EXPECT_NE(Violation("tools/a.cc", "#include \"search/tune.h\""), "");
  EXPECT_NE(Violation("tools/a.cc", "#include \"api/internal/input.h\""), "");
  EXPECT_NE(Violation("plugins/a.cc", "#include <vector>"), "");
}

TEST(IncludeTable, AllowsWhatItLists) {
  EXPECT_EQ(
      Violation("modules/inline/auto_inline.cc", "#include \"lang/schedule/schedule.h\"  // the front door"),
      "");
  EXPECT_EQ(Violation("search/database/sqlite.cc", "#include <sqlite3.h>"), "");
  EXPECT_EQ(Violation("lang/a.h", "#include <sys/mman.h>"), "");
  EXPECT_EQ(Violation("lang/a.h", "#include \"absl/status/status.h\""), "");
  EXPECT_EQ(Violation("lang/a.h", "// see \"mlir/IR/Value.h\""), "");
}

TEST(IncludeTable, HoldsInEveryFile) {
  for (const TextFile& file : ReadTree()) {
    if (!file.IsSource()) continue;
    for (const std::string& line : file.lines) EXPECT_EQ(Violation(file.path, line), "");
  }
}

// What is installed of api/: headers that stand without the search and the backends.
TEST(IncludeTable, PublicHeadersOfTheApiNameNeitherSearchNorBackends) {
  const std::vector<std::string> allowed = {"api/", "absl/", "lang/", "trace/", "modules/"};
  int headers = 0;
  for (const TextFile& file : ReadTree()) {
    if (!file.IsHeader() || !absl::StartsWith(file.path, "api/")) continue;
    if (absl::StartsWith(file.path, "api/internal/")) continue;
    ++headers;
    for (const std::string& line : file.lines) {
      EXPECT_FALSE(absl::StartsWith(absl::StripLeadingAsciiWhitespace(line), "friend ")) << file.path;
      const auto include = ParseInclude(line);
      if (!include || (!include->quoted && IsSystem(include->path))) continue;
      EXPECT_TRUE(StartsWithAny(include->path, allowed)) << file.path << " includes " << include->path;
      EXPECT_FALSE(absl::StartsWith(include->path, "api/internal/")) << file.path;
    }
  }
  EXPECT_GE(headers, 8);
}

TEST(IncludeTable, XgboostIsBehindOneFile) {
  std::vector<std::string> users;
  for (const TextFile& file : ReadTree()) {
    if (!file.IsSource()) continue;
    for (const std::string& line : file.lines) {
      const auto include = ParseInclude(line);
      if (include && absl::StartsWith(include->path, kOneFileIncludes)) users.push_back(file.path);
    }
  }
  EXPECT_LE(users.size(), 1) << absl::StrJoin(users, " ");
}

TEST(IncludeTable, TheRunnerReachesNoLlvmThroughOtherHeaders) {
  std::map<std::string, std::vector<std::string>> includes;
  std::vector<std::string> reached;
  for (const TextFile& file : ReadTree()) {
    if (!file.IsSource()) continue;
    for (const std::string& line : file.lines) {
      if (const auto include = ParseInclude(line)) includes[file.path].push_back(include->path);
    }
    if (absl::StartsWith(file.path, "backends/runner/")) reached.push_back(file.path);
  }
  std::set<std::string> seen(reached.begin(), reached.end());
  while (!reached.empty()) {
    const std::string path = reached.back();
    reached.pop_back();
    for (const std::string& next : includes[path]) {
      EXPECT_FALSE(StartsWithAny(next, {"mlir/", "llvm/", "lld/"})) << path << " includes " << next;
      if (seen.insert(next).second) reached.push_back(next);
    }
  }
}

}  // namespace
}  // namespace kiln::house
