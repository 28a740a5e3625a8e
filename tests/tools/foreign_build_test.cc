// Tests `kiln build --check` and `kiln tune` of models that contain operations which Kiln does not schedule but
// compiles with stock MLIR passes (foreign calls).
#include <gmock/gmock.h>

#include <filesystem>

#include "absl/strings/str_cat.h"
#include "test_paths.h"
#include "tests/support/run_kiln.h"

namespace kiln {
namespace {

using ::testing::HasSubstr;

// MLIR text of y = sums((x * w) scaled by s) * v, where `*` are matrix products, s scales columns, and `sums` is a loop
// that adds to each row from the second on the new row before it (prefix sums).
constexpr char kNet[] = R"(
func.func @net(%x: tensor<8x16xf32>, %w: tensor<16x16xf32> {kiln.constant}, %s: tensor<16xf32> {kiln.constant},
               %v: tensor<16x16xf32> {kiln.constant}) -> tensor<8x16xf32> {
  %z = arith.constant 0.0 : f32
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %e = tensor.empty() : tensor<8x16xf32>
  %i = linalg.fill ins(%z : f32) outs(%e : tensor<8x16xf32>) -> tensor<8x16xf32>
  %h = linalg.matmul ins(%x, %w : tensor<8x16xf32>, tensor<16x16xf32>) outs(%i : tensor<8x16xf32>)
      -> tensor<8x16xf32>
  %g = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d1)>,
                                        affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]}
      ins(%h, %s : tensor<8x16xf32>, tensor<16xf32>) outs(%e : tensor<8x16xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %m = arith.mulf %a, %b : f32
    linalg.yield %m : f32
  } -> tensor<8x16xf32>
  %t = scf.for %k = %c1 to %c8 step %c1 iter_args(%p = %g) -> (tensor<8x16xf32>) {
    %k1 = arith.subi %k, %c1 : index
    %r0 = tensor.extract_slice %p[%k1, 0] [1, 16] [1, 1] : tensor<8x16xf32> to tensor<1x16xf32>
    %r1 = tensor.extract_slice %p[%k, 0] [1, 16] [1, 1] : tensor<8x16xf32> to tensor<1x16xf32>
    %re = tensor.empty() : tensor<1x16xf32>
    %n = linalg.add ins(%r0, %r1 : tensor<1x16xf32>, tensor<1x16xf32>) outs(%re : tensor<1x16xf32>)
        -> tensor<1x16xf32>
    %q = tensor.insert_slice %n into %p[%k, 0] [1, 16] [1, 1] : tensor<1x16xf32> into tensor<8x16xf32>
    scf.yield %q : tensor<8x16xf32>
  }
  %y = linalg.matmul ins(%t, %v : tensor<8x16xf32>, tensor<16x16xf32>) outs(%i : tensor<8x16xf32>)
      -> tensor<8x16xf32>
  return %y : tensor<8x16xf32>
}
)";

// Runs `kiln build --check` on a file, which compares the model with a run in doubles, and returns the accuracy that it
// reports.
nlohmann::json AccuracyOf(const std::string& file) {
  const TemporaryFolder folder;
  const Ran built =
      RunKiln({"build", file, "--check", "-o", folder / "out", "--db", folder / "none.db", "--json"});
  EXPECT_EQ(built.exit_code, 0) << built.err;
  return built.json()["accuracy"];
}

TEST(ForeignBuild, IsCheckedBesideTheModelInDoubles) {
  const TemporaryFolder folder;
  const nlohmann::json net = AccuracyOf(folder.Write("net.mlir", kNet));
  EXPECT_GT(net["error"].get<double>(), 0);
  EXPECT_LT(net["error"].get<double>(), 1e-5);
  const std::string others = absl::StrCat(KILN_SOURCE_DIR, "/tests/inputs/unsupported/");
  EXPECT_LT(AccuracyOf(others + "torch_cumsum.mlir")["error"].get<double>(), 1e-5);
  EXPECT_EQ(AccuracyOf(others + "jax_fori_loop.mlir")["error"], 0);  // 2 * x + 1 is exact
  // jax_sort.mlir sorts floats by their bits as integers, so it has no version in doubles, and a note says so.
  EXPECT_THAT(AccuracyOf(others + "jax_sort.mlir")["note"].get<std::string>(),
              HasSubstr("reads the bits of a float"));
}

// Tests that the scale s after the product x * w is folded into the constant w although the loop that follows is a
// foreign call. Three calls remain: two products and the loop.
TEST(ForeignBuild, ScalesAreFoldedBesideAForeignCall) {
  const TemporaryFolder folder;
  const Ran built =
      RunKiln({"build", folder.Write("net.mlir", kNet), "-o", folder / "out", "--db", folder / "none.db"});
  ASSERT_EQ(built.exit_code, 0) << built.err;
  EXPECT_THAT(ReadText(folder / "out/net.h"), HasSubstr("Scales and shifts of 1 sums are folded"));
  const Ran shown = RunKiln({"show", "--stage", "calls", folder / "out/net.trace", "--json"});
  std::vector<std::string> schedules;
  const nlohmann::json plan = shown.json();
  for (const nlohmann::json& call : plan["calls"]) {
    if (call["prepares"] == false) schedules.push_back(call["schedule"]);
  }
  EXPECT_THAT(schedules, ::testing::ElementsAre("default", "foreign", "default")) << shown.err;
}

TEST(ForeignBuild, TuneEndsWithTheWhole) {
  const TemporaryFolder folder;
  const Ran tuned = RunKiln({"tune", folder.Write("net.mlir", kNet), "--trials", "16", "--quiet", "--db",
                             folder / "kiln.db", "-o", folder / "out", "--json"});
  ASSERT_EQ(tuned.exit_code, 0) << tuned.err;
  EXPECT_GE(tuned.json()["raced_wholes"]["wholes"].get<double>(), 2);
  EXPECT_EQ(tuned.json()["whole"]["tasks"].back()["schedule"], "foreign");
  EXPECT_EQ(tuned.json()["whole_run"]["calls"].size(), 3);
  EXPECT_TRUE(std::filesystem::exists(folder / "out/net.so"));
}

// Builds an LSTM, a loop of eight steps of eight products each. Expects that the loop is unrolled, so that no call is
// foreign.
TEST(ForeignBuild, AShortLoopOfProductsIsUnrolled) {
  const TemporaryFolder folder;
  const Ran built = RunKiln({"build", absl::StrCat(KILN_SOURCE_DIR, "/tests/inputs/ops/onnx_LSTM.mlir"),
                             "--check", "-o", folder / "out", "--db", folder / "none.db", "--json"});
  ASSERT_EQ(built.exit_code, 0) << built.err;
  const nlohmann::json report = built.json();
  for (const nlohmann::json& task : report["tasks"]) EXPECT_NE(task["schedule"], "foreign");
  EXPECT_LT(report["accuracy"]["error"].get<double>(), report["accuracy"]["limit"].get<double>());
}

// Builds a loop of 100 steps h = tanh(x[k] * u + h * w). Expects that it is unrolled, with at most 5 different tasks
// and no foreign call, and that results are accurate.
TEST(ForeignBuild, ALoopOfAHundredProductsIsUnrolledToo) {
  constexpr char kSteps[] = R"(
func.func @steps(%x: tensor<100x128xf32>, %u: tensor<128x128xf32> {kiln.constant},
                 %w: tensor<128x128xf32> {kiln.constant}) -> tensor<1x128xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c100 = arith.constant 100 : index
  %z = arith.constant dense<0.0> : tensor<1x128xf32>
  %e = tensor.empty() : tensor<1x128xf32>
  %r = scf.for %k = %c0 to %c100 step %c1 iter_args(%h = %z) -> (tensor<1x128xf32>) {
    %row = tensor.extract_slice %x[%k, 0] [1, 128] [1, 1] : tensor<100x128xf32> to tensor<1x128xf32>
    %a = linalg.matmul ins(%row, %u : tensor<1x128xf32>, tensor<128x128xf32>) outs(%z : tensor<1x128xf32>)
        -> tensor<1x128xf32>
    %b = linalg.matmul ins(%h, %w : tensor<1x128xf32>, tensor<128x128xf32>) outs(%z : tensor<1x128xf32>)
        -> tensor<1x128xf32>
    %s = linalg.add ins(%a, %b : tensor<1x128xf32>, tensor<1x128xf32>) outs(%e : tensor<1x128xf32>)
        -> tensor<1x128xf32>
    %n = linalg.tanh ins(%s : tensor<1x128xf32>) outs(%e : tensor<1x128xf32>) -> tensor<1x128xf32>
    scf.yield %n : tensor<1x128xf32>
  }
  return %r : tensor<1x128xf32>
}
)";
  const TemporaryFolder folder;
  const Ran built = RunKiln({"build", folder.Write("steps.mlir", kSteps), "--check", "-o", folder / "out",
                             "--db", folder / "none.db", "--json"});
  ASSERT_EQ(built.exit_code, 0) << built.err;
  const nlohmann::json report = built.json();
  for (const nlohmann::json& task : report["tasks"]) EXPECT_NE(task["schedule"], "foreign");
  EXPECT_LE(report["tasks"].size(), 5) << report["tasks"];
  EXPECT_LT(report["accuracy"]["error"].get<double>(), report["accuracy"]["limit"].get<double>());
}

// Tunes a file whose only operation Kiln does not schedule. Without -o this is an error; with -o, the command ends with
// a library of the whole file.
TEST(ForeignBuild, TuneOfOneOperationEndsWithTheWholeToo) {
  const TemporaryFolder folder;
  const std::string file = absl::StrCat(KILN_SOURCE_DIR, "/tests/inputs/unsupported/torch_cumsum.mlir");
  const std::vector<std::string> tune = {"tune",    file,   "--trials",        "2",
                                         "--quiet", "--db", folder / "kiln.db"};
  EXPECT_THAT(RunKiln(tune).err, HasSubstr("tm_tensor.scan is not supported"));
  std::vector<std::string> whole = tune;
  whole.insert(whole.end(), {"-o", folder / "out"});
  const Ran tuned = RunKiln(whole);
  EXPECT_EQ(tuned.exit_code, 0) << tuned.err;
  EXPECT_TRUE(std::filesystem::exists(folder / "out/torch_cumsum.so"));
}

}  // namespace
}  // namespace kiln
