// Tests that every #include line of the sources agrees with a table that says which folder may include which, for
// example that lang/ never includes search/.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/strip.h"
#include "tests/house/include_line.h"
#include "tests/house/source_tree.h"

namespace kiln::house {
namespace {

struct Row {
  std::string folder;             // the longest row that a file's path starts with is its row
  std::vector<std::string> ours;  // what it may include besides itself: "a/" files in a/, "a/**" all below
  std::vector<std::string> third_party;  // libraries besides those that every file may include
};

const std::vector<std::string> kAnyone = {"absl/",        "fmt/",          "spdlog/",
                                          "build_info.h", "header_hash.h", "test_paths.h"};
const std::vector<std::string> kAllOfKiln = {"lang/**",    "trace/**",    "modules/**",  "validator/**",
                                             "search/**",  "backends/**", "api/**",      "tools/**",
                                             "testing/**", "tests/**",    "examples/**", "bench/**"};
const std::vector<std::string> kTestTools = {"gtest/", "gmock/",    "rapidcheck", "isl/",      "CLI/",
                                             "mlir/",  "sqlite3.h", "nlohmann/",  "benchmark/"};

// The table: for each folder, the folders and the libraries that its files may include. Folders are sorted from the
// lowest layer to the highest, and a row may only name folders of rows before it.
// clang-format off
const std::vector<Row> kTable = {
    {"lang/", {}, {}},  // contains the precompiled header alone

    // Which folders may include which: rows for programs and their analyses.
    {"lang/base/", {}, {"boost/"}},
    {"lang/index/", {"lang/base/"}, {}},
    {"lang/choices/", {"lang/base/"}, {}},
    {"lang/target/", {"lang/base/"}, {}},
    {"lang/program/", {"lang/base/", "lang/index/"}, {}},
    {"lang/analysis/", {"lang/base/", "lang/index/", "lang/target/", "lang/program/"}, {}},
    {"lang/threads/", {"lang/base/", "lang/program/", "lang/analysis/"}, {}},
    {"lang/patterns/", {"lang/base/", "lang/index/", "lang/target/", "lang/program/", "lang/analysis/"}, {}},
    {"lang/verify/", {"lang/base/", "lang/index/", "lang/program/", "lang/analysis/", "lang/patterns/"}, {}},
    {"lang/text/", {"lang/base/", "lang/index/", "lang/program/", "lang/analysis/", "lang/verify/"}, {}},
    {"lang/reference/", {"lang/base/", "lang/index/", "lang/program/", "lang/analysis/"}, {}},
    {"lang/intrinsics/", {"lang/target/", "lang/patterns/", "lang/text/"}, {}},

    // Which folders may include which: rows for code that rewrites programs.
    {"lang/schedule/",
     {"lang/base/", "lang/index/", "lang/choices/", "lang/target/", "lang/program/", "lang/analysis/",
      "lang/patterns/"}, {}},
    {"lang/primitives/",
     {"lang/base/", "lang/index/", "lang/program/", "lang/analysis/", "lang/patterns/", "lang/schedule/"}, {}},
    {"lang/graph/",
     {"lang/base/", "lang/index/", "lang/target/", "lang/program/", "lang/analysis/", "lang/patterns/", "lang/text/",
      "lang/schedule/"}, {}},
    {"lang/model/", {"lang/base/", "lang/program/", "lang/analysis/", "lang/graph/"}, {}},
    {"lang/lemmas/",
     {"lang/base/", "lang/index/", "lang/program/", "lang/analysis/", "lang/patterns/", "lang/schedule/",
      "lang/graph/"}, {}},
    {"trace/", {"lang/base/", "lang/choices/", "lang/program/", "lang/schedule/"}, {}},
    {"modules/",
     {"lang/base/", "lang/target/", "lang/program/", "lang/analysis/", "lang/patterns/", "lang/schedule/"}, {}},
    {"modules/inline/", {"modules/", "lang/analysis/", "lang/program/", "lang/schedule/"}, {}},
    {"modules/late/", {"modules/", "lang/analysis/", "lang/program/", "lang/schedule/"}, {}},
    {"modules/layout/", {"modules/", "lang/analysis/", "lang/program/", "lang/schedule/"}, {}},
    {"modules/reductions/", {"modules/", "lang/analysis/", "lang/program/", "lang/schedule/"}, {}},
    {"modules/zeros/", {"modules/", "lang/analysis/", "lang/patterns/", "lang/program/", "lang/schedule/"}, {}},
    {"modules/tiling/",
     {"modules/", "lang/index/", "lang/analysis/", "lang/patterns/", "lang/program/", "lang/schedule/"}, {}},
    {"modules/gpu/",
     {"modules/", "lang/analysis/", "lang/patterns/", "lang/program/", "lang/schedule/", "lang/target/"}, {}},
    {"modules/spaces/", {"modules/", "lang/patterns/", "lang/intrinsics/", "lang/schedule/"}, {}},

    // Which folders may include which: rows for code that checks programs.
    {"validator/checks/", {"lang/base/", "lang/target/", "lang/program/", "lang/analysis/", "lang/threads/"}, {}},
    {"validator/", {"lang/base/", "lang/target/", "lang/program/", "lang/analysis/", "validator/checks/"}, {}},
    {"validator/model/", {"lang/program/", "lang/analysis/", "lang/model/model_plan.h"}, {}},
    {"validator/numeric/", {"lang/base/", "lang/index/", "lang/program/", "lang/analysis/"}, {}},
    {"validator/proof/",
     {"lang/base/", "lang/index/", "lang/program/", "lang/analysis/", "lang/threads/", "lang/reference/", "trace/"}, {}},

    // Which folders may include which: rows for code that searches for fast programs.
    {"search/", {"lang/base/", "lang/choices/"}, {"oneapi/"}},
    {"search/database/", {"search/", "lang/base/", "lang/schedule/", "trace/", "lang/target/"}, {"nlohmann/", "sqlite3.h"}},
    {"search/measure/",
     {"search/", "search/database/", "lang/base/", "lang/target/", "lang/program/", "lang/analysis/",
      "lang/text/"}, {"boost/"}},
    {"search/features/",
     {"lang/base/", "lang/target/", "lang/program/", "lang/analysis/", "lang/threads/", "lang/patterns/", "trace/"}, {}},
    {"search/cost/", {"search/features/", "lang/base/"}, {"nlohmann/", "xgboost/"}},
    {"search/sampler/", {"search/", "search/cost/", "lang/base/", "trace/"}, {"boost/"}},
    {"search/propose/",
     {"search/", "search/database/", "search/features/", "search/cost/", "search/sampler/", "lang/base/", "trace/",
      "validator/"}, {}},
    {"search/strategies/", {"search/", "search/sampler/", "search/propose/", "lang/base/"}, {}},
    {"search/run/",
     {"search/", "search/database/", "search/measure/", "search/features/", "search/cost/", "search/sampler/",
      "search/propose/", "search/strategies/", "lang/base/", "lang/text/", "trace/", "validator/proof/"},
     {"nlohmann/"}},
    {"search/model/",
     {"search/", "search/features/", "search/sampler/", "lang/base/", "trace/", "validator/"}, {}},

    // Which folders may include which: rows for backends. Workers, the runner and the passes that plan lowering need no
    // LLVM.
    {"backends/workers/", {"lang/base/"}, {"seccomp.h"}},
    {"backends/runner/emulator/", {"lang/base/"}, {}},
    {"backends/runner/", {"backends/workers/", "backends/runner/emulator/", "lang/base/median.h", "search/outcome.h"}, {"hwloc.h", "hwloc/", "seccomp.h"}},
    {"backends/cpu/", {"lang/base/", "lang/target/", "lang/intrinsics/"}, {"llvm/", "hwloc.h", "hwloc/"}},
    {"backends/cpu/passes/", {"lang/base/"}, {"mlir/", "llvm/"}},
    {"backends/codegen/", {"backends/workers/", "backends/cpu/", "backends/cpu/passes/", "lang/target/"}, {"mlir/", "llvm/", "lld/"}},
    {"backends/lower/plan/", {"lang/base/", "lang/index/", "lang/program/", "lang/analysis/"}, {}},
    {"backends/lower/passes/",
     {"backends/lower/plan/", "lang/base/", "lang/index/", "lang/target/", "lang/program/", "lang/analysis/",
      "lang/intrinsics/", "lang/schedule/", "lang/text/"}, {}},
    {"backends/lower/text/",
     {"backends/lower/plan/", "backends/lower/passes/", "lang/base/", "lang/index/", "lang/program/", "lang/text/"}, {}},
    {"backends/lower/kernels/",
     {"backends/lower/plan/", "backends/lower/passes/", "lang/base/", "lang/program/", "lang/analysis/",
      "lang/threads/", "lang/schedule/"}, {}},
    {"backends/lower/emit/",
     {"backends/cpu/passes/", "backends/lower/plan/", "backends/lower/passes/", "lang/base/", "lang/index/",
      "lang/program/"}, {"mlir/", "llvm/"}},
    {"backends/lower/",
     {"backends/cpu/passes/", "backends/codegen/", "backends/lower/plan/", "backends/lower/passes/", "backends/lower/text/",
      "backends/lower/emit/", "lang/base/", "lang/program/", "lang/analysis/", "lang/text/"}, {"mlir/", "llvm/"}},
    {"backends/gpu/driver/", {"backends/workers/", "backends/runner/", "lang/base/median.h"}, {}},
    {"backends/gpu/",
     {"backends/workers/", "backends/runner/launch.h", "backends/cpu/", "backends/cpu/passes/", "backends/codegen/",
      "backends/lower/plan/", "backends/lower/passes/", "backends/lower/emit/", "lang/base/", "lang/program/",
      "lang/analysis/"}, {"mlir/", "llvm/"}},
    {"backends/builder/",
     {"backends/workers/", "backends/runner/launch.h", "backends/cpu/", "backends/cpu/passes/", "backends/codegen/",
      "backends/lower/", "backends/lower/kernels/", "backends/lower/text/", "backends/gpu/", "lang/base/",
      "lang/target/", "lang/program/", "lang/text/"}, {"mlir/", "llvm/"}},
    {"backends/measure/",
     {"backends/workers/", "backends/runner/", "backends/runner/emulator/", "backends/cpu/", "backends/cpu/passes/",
      "backends/codegen/", "backends/gpu/ptxas.h", "backends/lower/", "backends/builder/",
      "backends/gpu/driver/wanted_elements.h", "search/measure/measurer.h", "search/measure/noise.h",
      "search/features/gpu_roofline.h", "validator/numeric/tolerance.h",
      "lang/base/", "lang/target/", "lang/program/", "lang/analysis/", "lang/patterns/", "lang/text/",
      "lang/reference/", "lang/schedule/"}, {"nlohmann/"}},
    {"backends/vendor/",
     {"backends/workers/", "backends/runner/", "backends/cpu/", "backends/codegen/", "backends/builder/",
      "backends/measure/", "lang/base/", "lang/program/", "lang/analysis/", "lang/patterns/", "lang/text/"},
     {"mlir/"}},
    {"backends/import/foreign/", {}, {"mlir/", "llvm/"}},
    {"backends/import/",
     {"backends/import/foreign/", "backends/workers/", "lang/base/", "lang/program/", "lang/text/"}, {"mlir/", "llvm/"}},
    {"backends/export/",
     {"backends/workers/", "backends/runner/launch.h", "backends/cpu/", "backends/cpu/passes/", "backends/codegen/", "backends/builder/",
      "lang/base/", "lang/target/", "lang/program/", "lang/analysis/", "lang/model/", "lang/text/"}, {}},
    {"backends/model/",
     {"backends/workers/", "backends/codegen/", "backends/builder/", "lang/base/", "lang/target/", "lang/program/",
      "lang/analysis/", "lang/model/", "lang/text/"}, {"nlohmann/", "zip.h"}},
    {"backends/prove/", {"backends/workers/", "validator/proof/prover.h"}, {"mlir/"}},

    // Which folders may include which: rows for interfaces and commands.
    {"api/", {"lang/program/", "modules/registry.h", "trace/"}, {}},
    {"api/internal/store/",
     {"api/", "search/database/", "search/measure/", "search/run/", "lang/base/", "lang/target/", "lang/program/",
      "lang/text/", "trace/"}, {"nlohmann/"}},
    {"api/internal/spaces/",
     {"api/", "backends/workers/", "lang/target/", "lang/analysis/", "lang/patterns/", "modules/", "trace/"}, {}},
    {"api/internal/",
     {"api/", "api/internal/store/", "backends/workers/", "backends/cpu/targets.h", "backends/runner/", "backends/builder/",
      "backends/measure/", "backends/vendor/", "backends/import/", "backends/export/", "search/features/",
      "search/cost/", "search/run/", "lang/base/", "lang/target/", "lang/program/", "lang/analysis/", "lang/graph/",
      "lang/text/", "trace/"}, {"nlohmann/"}},
    {"api/internal/model/",
     {"api/", "api/internal/", "api/internal/store/", "api/internal/spaces/", "backends/cpu/", "backends/codegen/",
      "backends/builder/", "backends/runner/", "backends/vendor/", "backends/model/", "search/database/", "search/model/", "search/run/",
      "validator/model/", "lang/base/",
      "lang/target/", "lang/program/", "lang/graph/", "lang/model/", "lang/text/", "trace/"}, {"nlohmann/"}},
    {"api/internal/operations/",
     {"api/", "api/internal/", "api/internal/store/", "api/internal/spaces/", "api/internal/model/", "backends/workers/", "backends/cpu/",
      "backends/codegen/", "backends/measure/", "backends/vendor/", "backends/export/", "backends/model/",
      "backends/prove/", "backends/runner/", "backends/builder/", "search/sampler/", "search/propose/",
      "search/database/", "search/measure/", "search/cost/", "search/model/", "search/strategies/", "search/run/",
      "validator/proof/", "validator/model/", "lang/base/", "lang/target/", "lang/program/", "lang/analysis/",
      "lang/graph/", "lang/model/", "lang/text/", "lang/reference/", "trace/"}, {"nlohmann/"}},
    {"tools/",
     {"api/building.h", "api/errors.h", "api/event.h", "api/json.h", "api/machine.h", "api/model.h", "api/records.h", "api/running.h",
      "api/session.h", "api/text.h", "api/tuning.h"}, {"CLI/"}},
    {"tools/text/", {"tools/", "api/building.h", "api/records.h", "api/running.h", "api/text.h", "api/tuning.h"}, {}},
    {"tools/commands/",
     {"tools/", "tools/text/", "api/building.h", "api/errors.h", "api/event.h", "api/json.h", "api/machine.h", "api/model.h", "api/records.h",
      "api/running.h", "api/session.h", "api/text.h", "api/tuning.h"}, {"CLI/"}},
    {"examples/",
     {"api/", "modules/", "trace/", "search/measure/", "search/propose/", "search/sampler/", "backends/import/",
      "backends/measure/", "lang/analysis/", "lang/choices/", "lang/program/", "lang/schedule/", "lang/text/", "lang/reference/"}, {}},

    // Which folders may include which: rows for tests and benchmarks.
    {"testing/",
     {"lang/base/", "lang/target/", "lang/program/", "lang/analysis/", "lang/threads/", "lang/schedule/", "lang/text/", "lang/verify/",
      "lang/reference/", "modules/", "trace/", "search/measure/", "backends/lower/plan/"}, {"gtest/"}},
    {"testing/threads/", {"lang/program/", "lang/analysis/", "lang/threads/"}, {}},
    {"testing/compiled/",
     {"testing/", "lang/base/", "lang/program/", "lang/reference/", "lang/text/", "backends/cpu/passes/",
      "backends/codegen/", "backends/builder/"}, {"gtest/", "mlir/"}},
    {"bench/support/", {}, {"CLI/", "nlohmann/"}},
    {"bench/",
     {"bench/support/", "testing/", "testing/compiled/", "api/", "modules/", "trace/", "validator/", "validator/numeric/",
      "search/cost/", "search/database/", "search/features/", "search/measure/", "search/model/", "search/propose/", "search/run/", "search/sampler/",
      "backends/builder/", "backends/codegen/", "backends/cpu/", "backends/import/", "backends/measure/", "backends/runner/",
      "backends/vendor/", "backends/workers/", "lang/analysis/", "lang/base/", "lang/graph/", "lang/program/", "lang/reference/",
      "lang/text/"},
     {"benchmark/", "nlohmann/"}},
    {"bench/gpu/",
     {"bench/", "bench/support/", "modules/", "trace/", "validator/", "search/cost/", "search/features/", "search/propose/",
      "backends/builder/", "backends/codegen/", "backends/cpu/", "backends/gpu/", "backends/import/", "backends/lower/kernels/", "backends/measure/",
      "lang/base/", "lang/graph/", "lang/target/", "lang/text/"}, {"nlohmann/"}},
    {"bench/gpu_day/",
     {"bench/support/", "testing/", "testing/compiled/", "search/features/", "backends/codegen/", "backends/gpu/",
      "backends/gpu/driver/", "backends/lower/kernels/", "backends/measure/", "backends/workers/", "lang/base/", "lang/program/"}, {}},
    {"bench/versus/", {}, {"oneapi/"}},
    {"tests/", kAllOfKiln, kTestTools},
};
// clang-format on

constexpr char kOneFileIncludes[] = "xgboost/";  // only one file may include XGBoost; not in the table

bool StartsWithAny(absl::string_view path, const std::vector<std::string>& prefixes) {
  for (const std::string& prefix : prefixes) {
    if (absl::StartsWith(path, prefix)) return true;
  }
  return false;
}

// True for headers of the C++ library or the system, such as <vector>, <unistd.h> and <sys/mman.h>.
bool IsSystem(absl::string_view included) {
  static const std::set<std::string> kNotSystem = {"sqlite3.h",    "hwloc.h", "seccomp.h",
                                                   "rapidcheck.h", "cuda.h",  "zip.h"};
  if (!absl::StrContains(included, '/')) return !kNotSystem.contains(std::string(included));
  return StartsWithAny(included, {"sys/", "linux/", "asm/", "netinet/", "arpa/", "net/", "gnu/"});
}

// True if an entry of the table allows to include this path. An entry names a file, "a/" the files in a folder, and
// "a/**" everything below a folder.
bool Allows(absl::string_view entry, absl::string_view path) {
  if (absl::ConsumeSuffix(&entry, "**")) return absl::StartsWith(path, entry);
  return entry == path || (absl::ConsumeSuffix(&entry, "/") && FolderOf(path) == entry);
}

// Returns the row of the table with the longest folder that contains the file; null if there is none.
const Row* RowOf(absl::string_view file) {
  const Row* row = nullptr;
  for (const Row& candidate : kTable) {
    if (absl::StartsWith(file, candidate.folder) &&
        (row == nullptr || candidate.folder.size() > row->folder.size())) {
      row = &candidate;
    }
  }
  return row;
}

// Returns a message if the table does not allow this #include line in this file; "" if it does, or for any other line.
std::string Violation(const std::string& file, const std::string& line) {
  const auto include = ParseInclude(line);
  if (!include) return "";
  const Row* row = RowOf(file);
  if (row == nullptr) return absl::StrCat(file, " is in no folder of the table");
  if (!include->quoted && IsSystem(include->path)) return "";
  if (StartsWithAny(include->path, kAnyone) || StartsWithAny(include->path, row->third_party)) return "";
  const auto allows = [&](const std::string& entry) { return Allows(entry, include->path); };
  if (allows(row->folder) || std::any_of(row->ours.begin(), row->ours.end(), allows)) return "";
  return absl::StrCat(file, " includes ", include->path, ", but besides itself ", row->folder,
                      " may include only ", absl::StrJoin(row->ours, " "),
                      row->third_party.empty() ? "" : " and ", absl::StrJoin(row->third_party, " "));
}

TEST(IncludeTable, NamesTheFileThatBreaksItAndWhatItMayInclude) {
  EXPECT_EQ(Violation("lang/index/index_map.cc", "#include \"trace/trace.h\""),
            "lang/index/index_map.cc includes trace/trace.h, but besides itself lang/index/ may include only "
            "lang/base/");
  EXPECT_NE(Violation("modules/inline/auto_inline.cc", "#include \"trace/trace.h\""), "");
  EXPECT_NE(Violation("lang/program/a.h", "#include \"lang/schedule/schedule.h\""), "");
  EXPECT_NE(Violation("api/a.h", "#include \"api/internal/input.h\""), "");
  EXPECT_NE(Violation("lang/base/a.h", "#include \"mlir/IR/Value.h\""), "");
  EXPECT_NE(Violation("modules/inline/auto_inline.cc", "#include \"modules/tiling/tiles.h\""), "");
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
  EXPECT_EQ(Violation("lang/base/a.h", "#include <sys/mman.h>"), "");
  EXPECT_EQ(Violation("lang/base/a.h", "#include \"absl/status/status.h\""), "");
  EXPECT_EQ(Violation("lang/base/a.h", "// see \"mlir/IR/Value.h\""), "");
}

// Tests that each row of the table names only folders of rows before it, and no "a/**". The row of tests/ is exempt,
// since tests may include anything.
TEST(IncludeTable, NamesFoldersOfLowerRowsAndNoWholePart) {
  for (size_t i = 0; i < kTable.size(); ++i) {
    const Row& row = kTable[i];
    if (row.folder == "tests/") continue;
    for (const std::string& entry : row.ours) {
      EXPECT_FALSE(absl::EndsWith(entry, "**"))
          << row.folder << " may include all of " << entry << "; name folders";
      const Row* lower = RowOf(entry);
      ASSERT_NE(lower, nullptr) << entry << " of " << row.folder << " has no row";
      EXPECT_LT(lower - kTable.data(), i) << row.folder << " may include " << entry << ", which is above it";
    }
  }
}

TEST(IncludeTable, HoldsInEveryFile) {
  for (const TextFile& file : ReadTree()) {
    if (!file.IsSource()) continue;
    for (const std::string& line : file.lines) EXPECT_EQ(Violation(file.path, line), "");
  }
}

// Tests that the public headers of api/ include only each other, absl, system headers, lang/, trace/ and modules/
// (neither the search, the backends nor api/internal/), and declare no friends.
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

// Expects that the sources whose path starts with `from` include no header whose path starts with one of `forbidden`,
// neither directly nor through other headers.
void ExpectReachesNone(absl::string_view from, const std::vector<std::string>& forbidden) {
  std::map<std::string, std::vector<std::string>> includes;
  std::vector<std::string> reached;
  for (const TextFile& file : ReadTree()) {
    if (!file.IsSource()) continue;
    for (const std::string& line : file.lines) {
      if (const auto include = ParseInclude(line)) includes[file.path].push_back(include->path);
    }
    if (absl::StartsWith(file.path, from)) reached.push_back(file.path);
  }
  EXPECT_FALSE(reached.empty()) << from;
  std::set<std::string> seen(reached.begin(), reached.end());
  while (!reached.empty()) {
    const std::string path = reached.back();
    reached.pop_back();
    for (const std::string& next : includes[path]) {
      EXPECT_FALSE(StartsWithAny(next, forbidden)) << path << " includes " << next;
      if (seen.insert(next).second) reached.push_back(next);
    }
  }
}

TEST(IncludeTable, TheRunnerReachesNoLlvmThroughOtherHeaders) {
  ExpectReachesNone("backends/runner/", {"mlir/", "llvm/", "lld/"});
}

// Tests that the thread clocks of testing/threads/, which check plans of synchronization, do not include the code that
// makes these plans, so that both cannot share a mistake.
TEST(IncludeTable, ThreadClocksReachNeitherTheAnalysisOfSynchronizationNorLoopPlans) {
  ExpectReachesNone("testing/threads/",
                    {"lang/threads/synchronization.h", "lang/threads/shared_places.h", "backends/"});
}

// Tests that the emulator of GPU kernels includes neither lowering nor the analysis of synchronization, so that it
// checks the generated code independently.
TEST(IncludeTable, TheEmulatorReachesNeitherTheAnalysisOfSynchronizationNorLowering) {
  ExpectReachesNone("backends/runner/emulator/", {"lang/threads/", "backends/lower/", "backends/gpu/"});
}

}  // namespace
}  // namespace kiln::house
