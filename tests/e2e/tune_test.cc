// Tests the commands as a user runs them one after the other: tune, best, show, replay and export, and then a C program
// that links the exported object. Also tests Ctrl-C, several tasks, and a plugin.
#include <gmock/gmock.h>
#include <signal.h>

#include <chrono>
#include <random>
#include <thread>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "build_info.h"
#include "test_paths.h"
#include "testing/drawn_seed.h"
#include "tests/support/run_kiln.h"

namespace kiln {
namespace {

using ::testing::HasSubstr;

struct Shape {
  int m, n, k;
};

std::string MatmulText(const Shape& s, const std::string& name = "product") {
  return absl::StrReplaceAll(
      "func.func @NAME(%a: tensor<MxKxf32>, %b: tensor<KxNxf32>) -> tensor<MxNxf32> {\n"
      "  %zero = arith.constant 0.0 : f32\n"
      "  %e = tensor.empty() : tensor<MxNxf32>\n"
      "  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<MxNxf32>) -> tensor<MxNxf32>\n"
      "  %c = linalg.matmul ins(%a, %b : tensor<MxKxf32>, tensor<KxNxf32>) outs(%f : tensor<MxNxf32>) -> "
      "tensor<MxNxf32>\n"
      "  return %c : tensor<MxNxf32>\n"
      "}\n",
      {{"NAME", name},
       {"MxK", absl::StrCat(s.m, "x", s.k)},
       {"KxN", absl::StrCat(s.k, "x", s.n)},
       {"MxN", absl::StrCat(s.m, "x", s.n)}});
}

Shape RandomShape(uint64_t seed) {
  std::mt19937_64 random(seed);
  std::uniform_int_distribution<int> extent(24, 96);
  const int m = extent(random), n = extent(random), k = extent(random);
  return {m, n, k};
}

class Tune : public testing::Test {
 protected:
  Tune() { setenv("XDG_CACHE_HOME", (folder_ / "cache").c_str(), 1); }
  Ran Kiln(const std::vector<std::string>& arguments) const { return RunKiln(arguments, folder_.path()); }
  const TemporaryFolder folder_;
};

TEST_F(Tune, AMatmulOfAnyShapeEndsInAnObjectThatACProgramLinks) {
  const Shape s = RandomShape(DrawnSeed());
  SCOPED_TRACE(absl::StrCat("shape ", s.m, " x ", s.n, " x ", s.k));
  folder_.Write("product.mlir", MatmulText(s));
  const Ran tuned = Kiln({"tune", "product.mlir", "--trials", "16", "--seed", "7", "--json", "-o", "out"});
  ASSERT_EQ(tuned.exit_code, 0) << tuned.err << tuned.out;
  const nlohmann::json task = tuned.json()["tasks"][0];
  EXPECT_EQ(task["name"], "product");
  EXPECT_TRUE(task["verified"]);
  EXPECT_GE(task["trials"].get<double>(), 16);
  EXPECT_GT(task["untuned_seconds"].get<double>(), 0);
  EXPECT_THAT(tuned.err, HasSubstr("GFLOP/s"));
  const std::string id = absl::StrCat(task["record"].get<int64_t>());

  const Ran best = Kiln({"best", "--json"});
  ASSERT_EQ(best.exit_code, 0) << best.err;
  EXPECT_EQ(best.json()[0]["workload"], "product");
  EXPECT_THAT(Kiln({"best"}).out, HasSubstr("product"));

  const std::pair<const char*, const char*> stages[] = {{"program", "kiln.program v1"},
                                                        {"trace", "kiln.trace v2"},
                                                        {"mlir", "func.func"},
                                                        {"llvm", "define"},
                                                        {"asm", ".globl"}};
  for (const auto& [stage, text] : stages) {
    const Ran shown = Kiln({"show", id, "--stage", stage});
    EXPECT_EQ(shown.exit_code, 0) << shown.err;
    EXPECT_THAT(shown.out, HasSubstr(text)) << stage;
  }
  EXPECT_THAT(Kiln({"show", id, "--print-after-all"}).out, HasSubstr("// ----- asm"));

  const Ran replayed = Kiln({"replay", id, "--json"});
  EXPECT_EQ(replayed.exit_code, 0) << replayed.err;
  EXPECT_TRUE(replayed.json()["verified"]);

  const Ran exported = Kiln({"export", id, "-o", "again", "--name", "again"});
  EXPECT_EQ(exported.exit_code, 0) << exported.err;
  EXPECT_THAT(exported.out, HasSubstr("again/again.h"));

  folder_.Write(
      "main.c",
      absl::StrCat(
          "#include <math.h>\n#include \"out/product.h\"\n"
          "enum { M = ",
          s.m, ", N = ", s.n, ", K = ", s.k,
          " };\n"
          "static float a[M * K], b[K * N], c[M * N];\n"
          "int main(void) {\n"
          "  for (int i = 0; i < M * K; ++i) a[i] = (float)(i % 7) - 3;\n"
          "  for (int i = 0; i < K * N; ++i) b[i] = (float)(i % 5) - 2;\n"
          "  if (product(a, b, c) != 0) return 2;\n"
          "  for (int i = 0; i < M; ++i)\n    for (int j = 0; j < N; ++j) {\n"
          "      double sum = 0;\n      for (int k = 0; k < K; ++k) sum += a[i * K + k] * b[k * N + j];\n"
          "      if (fabs(sum - c[i * N + j]) > 1e-3) return 3;\n    }\n  return 0;\n}\n"));
  const std::string compile =
      absl::StrCat("cd ", folder_.path(), " && ", KILN_CXX_COMPILER,
                   " -x c -std=c11 -Wall -Werror main.c -x none out/product.o -lm -o main && ./main");
  EXPECT_EQ(std::system(compile.c_str()), 0) << compile;
}

TEST_F(Tune, ResumesAfterCtrlC) {
  folder_.Write("product.mlir", MatmulText({64, 64, 64}));
  const std::vector<std::string> line = {"tune", "product.mlir", "--trials", "48", "--seed", "3", "--json"};
  KilnProcess first(line, folder_.path());
  for (int i = 0; i < 1200 && first.Errors().find("[16/48]") == std::string::npos; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  }
  kill(first.pid(), SIGINT);
  const Ran interrupted = first.Wait();
  ASSERT_EQ(interrupted.exit_code, 3) << interrupted.err;
  EXPECT_TRUE(interrupted.json()["interrupted"]);
  const std::string command = absl::StrCat("kiln ", absl::StrJoin(line, " "));
  EXPECT_THAT(interrupted.err, HasSubstr(absl::StrCat("; go on with\n  ", command, "\n")));
  EXPECT_EQ(interrupted.json()["resume"], command);

  const Ran resumed = Kiln(line);
  ASSERT_EQ(resumed.exit_code, 0) << resumed.err;
  EXPECT_EQ(resumed.json()["tasks"][0]["trials"], 48);
  EXPECT_EQ(resumed.err.find("[16/48]"), std::string::npos)
      << "begins where the first one stopped: " << resumed.err;
  EXPECT_THAT(resumed.err, HasSubstr("[48/48]"));
}

TEST_F(Tune, TheTasksOfAFileShareOneBudget) {
  const std::string text = absl::StrReplaceAll(
      MatmulText({32, 32, 32}, "pair"),
      {{"  return %c : tensor<32x32xf32>",
        "  %g = linalg.matmul ins(%c, %b : tensor<32x32xf32>, tensor<32x32xf32>) outs(%f : "
        "tensor<32x32xf32>) -> tensor<32x32xf32>\n  %h = linalg.reduce { arith.addf } ins(%g : "
        "tensor<32x32xf32>) outs(%r : tensor<32xf32>) dimensions = [1]\n  return %h : tensor<32xf32>"},
       {") -> tensor<32x32xf32> {\n", ", %r: tensor<32xf32>) -> tensor<32xf32> {\n"}});
  folder_.Write("pair.mlir", text);
  const Ran ran = Kiln({"tune", "pair.mlir", "--trials", "32", "--json"});
  ASSERT_EQ(ran.exit_code, 0) << ran.err;
  const nlohmann::json tasks = ran.json()["tasks"];
  ASSERT_EQ(tasks.size(), 2) << "the two products are one task: " << tasks;
  EXPECT_EQ(tasks[0]["occurrences"], 2);
  EXPECT_GT(tasks[0]["trials"].get<double>(), 0);
  EXPECT_GT(tasks[1]["trials"].get<double>(), 0);
}

TEST_F(Tune, AModuleOfAUserIsInTheTunedResult) {
  folder_.Write("product.mlir", MatmulText({64, 64, 64}));
  const std::string page = ReadText(std::string(KILN_SOURCE_DIR) + "/docs/howto/write-a-module.md");
  const std::string begin = "```cpp small_tiles.cc\n";
  const size_t at = page.find(begin) + begin.size();
  folder_.Write("small_tiles.cc", page.substr(at, page.find("```", at) - at));
  const Ran ran = Kiln({"tune", "product.mlir", "--trials", "16", "--plugin", "small_tiles.cc", "--space",
                        "each-block(small-tiles) | parallelize-vectorize-unroll", "--json"});
  ASSERT_EQ(ran.exit_code, 0) << ran.err;
  EXPECT_THAT(ran.json()["tasks"][0]["trace"].get<std::string>(), HasSubstr("small-tiles/matmul"));
}

TEST_F(Tune, AnUnknownRecordIsAnError) {
  folder_.Write("product.mlir", MatmulText({24, 24, 24}));
  ASSERT_EQ(Kiln({"tune", "product.mlir", "--trials", "1", "--quiet"}).exit_code, 0);
  const Ran ran = Kiln({"show", "999999"});
  EXPECT_EQ(ran.exit_code, 1);
  EXPECT_THAT(ran.err, HasSubstr("999999"));
}

}  // namespace
}  // namespace kiln
