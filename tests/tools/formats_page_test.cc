// Tests that headers and JSON documents that commands write have the form that docs/reference/formats.md shows.
// tests/house/formats_page_test.cc tests the formats of the page that need no compiler.
#include <gtest/gtest.h>

#include <set>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "backends/export/header.h"
#include "build_info.h"
#include "lang/text/text.h"
#include "search/database/sqlite_store.h"
#include "test_paths.h"
#include "tests/search/store_support.h"
#include "tests/support/page.h"
#include "tests/support/run_kiln.h"

namespace kiln {
namespace {

using Json = nlohmann::json;

constexpr char kPage[] = "docs/reference/formats.md";

Json Shown(const std::string& kind) {
  const std::vector<std::string> blocks = Fenced(kPage, kind);
  EXPECT_EQ(blocks.size(), 1u) << kind;
  return Json::parse(blocks.empty() ? "null" : blocks[0]);
}

// Adds to `paths` the keys that lead to each value in a JSON document, such as "/tasks/name". Elements of a list share
// a path.
void Collect(const Json& json, const std::string& path, std::set<std::string>* paths) {
  if (json.is_object()) {
    for (const auto& [key, value] : json.items()) Collect(value, path + "/" + key, paths);
  } else if (json.is_array() && !json.empty()) {
    for (const Json& value : json) Collect(value, path, paths);
  } else {
    paths->insert(path);
  }
}

TEST(FormatsPage, AHeaderIsThatOfTheProgramShownFirst) {
  const absl::StatusOr<Program> program = ParseProgram(Fenced(kPage, "kiln-program").at(0));
  ASSERT_TRUE(program.ok()) << program.status();
  const std::string text = HeaderText(*program, {}, "matmul", "x86-64-v3", "proven and verified");
  const std::string first = absl::StrCat("made by Kiln ", KILN_VERSION, " for");
  EXPECT_EQ(Fenced(kPage, "c").at(0), absl::StrReplaceAll(text, {{first, "made by Kiln VERSION for"}}));
}

TEST(FormatsPage, AFailureHasTheKeysShown) {
  const TemporaryFolder folder;
  const Json failed = RunKiln({"best", "--db", folder / "none.db", "--json"}).json(),
             shown = Shown("kiln-error");
  std::set<std::string> found, wanted;
  Collect(failed, "", &found);
  Collect(shown, "", &wanted);
  EXPECT_EQ(found, wanted);
  EXPECT_EQ(failed["kind"], shown["kind"]);
}

TEST(FormatsPage, ALogIsWhatIsShownWithTheRoundsShown) {
  const TemporaryFolder folder;
  const Json round = Shown("kiln-round");
  Json wanted = Shown("kiln-log");
  {
    const auto store = OpenStore(folder / "kiln.db").value();
    FillExample(*store);
    const RoundRow row{.trials = 16, .statistics = round.dump()};
    ASSERT_TRUE(store->AppendRecords(1, {ExampleRecord(1, 1, 0, {1})}, "", {row}).ok());
    ASSERT_TRUE(store->FinishRun(1).ok());
  }
  wanted[0]["rounds"][0].update(round);
  EXPECT_EQ(RunKiln({"log", folder / "kiln.db", "--json"}).json(), wanted);
}

TEST(FormatsPage, EveryKeyThatTunePrintsIsShown) {
  const TemporaryFolder folder;
  const std::string file = folder.Write("small.mlir", R"(
func.func @small(%a: tensor<32x32xf32>, %b: tensor<32x32xf32>) -> tensor<32x32xf32> {
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<32x32xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<32x32xf32>) -> tensor<32x32xf32>
  %c = linalg.matmul ins(%a, %b : tensor<32x32xf32>, tensor<32x32xf32>) outs(%f : tensor<32x32xf32>)
      -> tensor<32x32xf32>
  return %c : tensor<32x32xf32>
})");
  const Ran ran = RunKiln({"tune", file, "--trials", "4", "--db", folder / "kiln.db", "--json"});
  ASSERT_EQ(ran.exit_code, 0) << ran.err;
  Json tuned = ran.json(), shown = Shown("kiln-tune");
  for (const Json& round : tuned["rounds"]) {
    for (const char* key : {"index", "round", "trials"}) EXPECT_TRUE(round.contains(key)) << key;
  }
  EXPECT_FALSE(tuned["rounds"].empty());
  // Removes the objects "failures" and "libraries" of both documents, whose keys may differ between runs.
  for (Json* json : {&tuned, &shown}) {
    json->erase("rounds");
    for (Json& task : (*json)["tasks"]) task["failures"] = task["libraries"] = "";
  }
  std::set<std::string> found, known;
  Collect(tuned, "", &found);
  Collect(shown, "", &known);
  for (const std::string& key : found) EXPECT_TRUE(known.contains(key)) << key;
  // Removes optional keys from those that the page shows: the command need not print them.
  for (const char* key : {"/tasks/machine/share", "/tasks/machine/bound", "/tasks/machine/gflops",
                          "/tasks/machine/gigabytes_per_second", "/tasks/noise", "/tasks/searched_seconds",
                          "/tasks/untuned_seconds", "/tasks/reason", "/resume", "/nothing", "/error"})
    known.erase(key);
  for (const std::string& key : known) EXPECT_TRUE(found.contains(key)) << key;
}

}  // namespace
}  // namespace kiln
