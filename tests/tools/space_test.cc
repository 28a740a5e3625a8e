// Tests `kiln space`, which prints the tasks and sketches of a file, also with modules of users (--plugin).
#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>

#include "test_paths.h"
#include "tests/support/run_kiln.h"

namespace kiln {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

const std::string kSource = KILN_SOURCE_DIR;
const std::string kMatmul = kSource + "/examples/matmul.mlir";

// Returns the n-th C++ code block of a page, counted from 0.
std::string CodeOf(const std::string& page, int n = 0) {
  const std::string text = ReadText(kSource + "/" + page);
  size_t at = 0;
  for (int i = 0; i <= n; ++i) at = text.find('\n', text.find("```cpp", at)) + 1;
  return text.substr(at, text.find("```", at) - at);
}

TEST(Space, ShowsTracesSitesAndSupport) {
  const Ran ran = RunKiln({"space", kMatmul});
  EXPECT_EQ(ran.exit_code, 0) << ran.err;
  EXPECT_THAT(ran.out, HasSubstr("kiln.trace v2"));
  EXPECT_THAT(ran.out, HasSubstr("support"));
  EXPECT_THAT(ran.out, HasSubstr("multi-level-tiling/matmul"));
}

TEST(Space, SummaryLeavesOutTheTraces) {
  const Ran ran = RunKiln({"space", kMatmul, "--summary"});
  EXPECT_EQ(ran.exit_code, 0) << ran.err;
  EXPECT_THAT(ran.out, AllOf(HasSubstr("space: cpu\nitems: skip-zeros | drop-padded-terms | each-block("),
                             HasSubstr("left it alone, for"), Not(HasSubstr("kiln.trace"))));
}

TEST(Space, AsJson) {
  const nlohmann::json json = RunKiln({"space", kMatmul, "--json"}).json();
  ASSERT_EQ(json["tasks"].size(), 1);
  EXPECT_EQ(json["tasks"][0]["name"], "matmul");
  EXPECT_GT(json["tasks"][0]["support"].get<double>(), 1e6);
  EXPECT_GT(json["tasks"][0]["sketches"][0]["sites"].size(), 0);
}

TEST(Space, ValuesThatAnOptionDoesNotAllowAreMistakesOfTheCommandLine) {
  const Ran ran = RunKiln({"space", kMatmul, "--space", "each-block(multi-level-tiling max-innermost=-3)"});
  EXPECT_EQ(ran.exit_code, 2);
  EXPECT_THAT(ran.err,
              HasSubstr("option max-innermost of module multi-level-tiling is \"-3\"; it takes a number "
                        "from 1 to 2147483647"));
}

TEST(Space, EverySingleOperationIsOneTask) {
  for (const auto& file : std::filesystem::directory_iterator(kSource + "/tests/inputs/ops")) {
    if (file.path().filename() == "onnx_LSTM.mlir") continue;  // steps of a loop, each of several tasks
    const Ran ran = RunKiln({"space", file.path(), "--limit", "1", "--json"});
    if (ran.exit_code != 0) continue;  // tests/backends/import_table.txt holds which these are
    EXPECT_EQ(ran.json()["tasks"].size(), 1) << file.path();
  }
}

TEST(Space, ListsTheTasksOfAModelWithTheirOccurrences) {
  const nlohmann::json json =
      RunKiln({"space", kSource + "/tests/inputs/models/torch_resnet18.mlir", "--limit", "1", "--json"})
          .json();
  int tasks = 0, occurrences = 0;
  for (const auto& task : json["tasks"]) {
    if (task["name"].get<std::string>().find("conv") == std::string::npos) continue;
    ++tasks;
    occurrences += task["occurrences"].get<int>();
  }
  EXPECT_EQ(occurrences, 20);
  EXPECT_EQ(tasks, 18);

  const Ran gan = RunKiln({"space", kSource + "/tests/inputs/models/onnx_dcgan.mlir", "--limit", "1"});
  EXPECT_EQ(gan.exit_code, 0) << gan.err;
  EXPECT_THAT(gan.out, HasSubstr("main_graph_conv_2d_nchw_fchw_5  1 "));
  EXPECT_THAT(gan.out, Not(HasSubstr("not tunable")));
}

class Plugin : public testing::Test {
 protected:
  Plugin() { setenv("XDG_CACHE_HOME", (folder_ / "cache").c_str(), 1); }
  Ran SpaceWith(const std::string& plugin, const std::string& space) const {
    return RunKiln({"space", kMatmul, "--plugin", plugin, "--space", space});
  }
  const TemporaryFolder folder_;
};

TEST_F(Plugin, TheModuleOfTheReadmeShowsInTheSpace) {
  const Ran ran = SpaceWith(folder_.Write("small_tiles.cc", CodeOf("README.md")),
                            "each-block(small-tiles) | parallelize-vectorize-unroll");
  EXPECT_EQ(ran.exit_code, 0) << ran.err;
  EXPECT_THAT(ran.out, HasSubstr("small-tiles/matmul"));
}

TEST_F(Plugin, TheModuleOfTheDocsHasAnOptionAndIsCompiledOnce) {
  const std::string file = folder_.Write("small_tiles.cc", CodeOf("docs/howto/write-a-module.md"));
  const std::string space = "each-block(small-tiles innermost=32) | parallelize-vectorize-unroll";
  const Ran first = SpaceWith(file, space);
  EXPECT_EQ(first.exit_code, 0) << first.err;
  EXPECT_THAT(first.out, HasSubstr("innermost=32"));
  const auto written = [&] {
    const std::filesystem::directory_iterator kept(folder_ / "cache/kiln");
    return std::filesystem::last_write_time(*kept);
  };
  const auto before = written();
  EXPECT_EQ(SpaceWith(file, space).exit_code, 0);
  EXPECT_EQ(written(), before);
}

TEST_F(Plugin, WithoutASpaceItsModulesStandBeforeTheDefaultSpace) {
  const Ran ran =
      RunKiln({"space", kMatmul, "--plugin", folder_.Write("small_tiles.cc", CodeOf("README.md")), "--json"});
  const nlohmann::json json = ran.json();
  EXPECT_EQ(json["space"],
            "skip-zeros | drop-padded-terms | each-block(inline-constant-scalars | auto-inline) | "
            "each-block(small-tiles) | cpu")
      << ran.err;
  std::string traces;
  for (const nlohmann::json& sketch : json["tasks"][0]["sketches"])
    traces += sketch["trace"].get<std::string>();
  EXPECT_THAT(traces, HasSubstr("choice \"small-tiles/matmul/tile\" 1 of 2"));
  EXPECT_THAT(traces, HasSubstr("@cpu/multi-level-tiling/matmul"));
}

TEST_F(Plugin, ANameThatIsTakenIsRefused) {
  const Ran ran = SpaceWith(folder_.Write("again.cc",
                                          "#include \"modules/module.h\"\n"
                                          "void Again(kiln::Schedule&, kiln::Block) {}\n"
                                          "KILN_MODULE(\"auto-inline\", Again);\n"),
                            "cpu");
  EXPECT_EQ(ran.exit_code, 1);
  EXPECT_THAT(ran.err, HasSubstr("again.cc: there is a module called auto-inline already"));
}

TEST_F(Plugin, ErrorsOfTheCompilerAreShown) {
  const Ran ran =
      SpaceWith(folder_.Write("broken.cc", "#include \"modules/module.h\"\nint x = bake();\n"), "cpu");
  EXPECT_EQ(ran.exit_code, 1);
  EXPECT_THAT(ran.err, HasSubstr("broken.cc does not compile:"));
  EXPECT_THAT(ran.err, HasSubstr("broken.cc:2:9: error: use of undeclared identifier 'bake'"));
}

TEST_F(Plugin, ASharedObjectOfAnotherKilnIsRefused) {
  const std::string stranger = folder_.Write("stranger.so",
                                             "\x7f"
                                             "ELF and more");
  EXPECT_THAT(SpaceWith(stranger, "cpu").err,
              HasSubstr("stranger.so is not a module of Kiln: it has no stamp"));
  const std::string older = folder_.Write("older.so", std::string("\x7f"
                                                                  "ELF kiln-plugin-stamp: ") +
                                                          "Kiln 0.0.1, clang 9");
  const Ran ran = SpaceWith(older, "cpu");
  EXPECT_EQ(ran.exit_code, 1);
  EXPECT_THAT(ran.err, HasSubstr("older.so was built for another Kiln"));
  EXPECT_THAT(ran.err, HasSubstr("found:  kiln-plugin-stamp: Kiln 0.0.1, clang 9"));
}

TEST_F(Plugin, AHandlePastTheEndOfAListIsToldWithItsLine) {
  const std::string file = folder_.Write("past.cc",
                                         "#include \"modules/module.h\"\n"
                                         "void Past(kiln::Schedule& s, kiln::Block block) {\n"
                                         "  const std::vector<kiln::Loop> loops = s.GetLoops(block);\n"
                                         "  s.Reorder({loops[7], loops[0]});\n"
                                         "}\n"
                                         "KILN_MODULE(\"past\", Past);\n");
  const Ran ran = SpaceWith(file, "each-block(past)");
  EXPECT_EQ(ran.exit_code, 1);
  EXPECT_THAT(ran.err,
              HasSubstr("past.cc:4: \"past/matmul/\" asks for handle 7 of a list of 3, which has 0 to 2"));
}

TEST_F(Plugin, ASpaceThatGivesNoSketchFails) {
  const std::string file =
      folder_.Write("never.cc",
                    "#include \"modules/module.h\"\n"
                    "void Never(kiln::Schedule& s, kiln::Block) { s.GetBlock(\"nowhere\"); }\n"
                    "KILN_MODULE(\"never\", Never);\n");
  const Ran ran = SpaceWith(file, "each-block(never)");
  EXPECT_EQ(ran.exit_code, 1);
  EXPECT_THAT(ran.err, HasSubstr("the space gives no sketch that applies for matmul"));
  EXPECT_THAT(ran.out, HasSubstr("nowhere"));
}

}  // namespace
}  // namespace kiln
