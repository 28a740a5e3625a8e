// Tests `kiln build` of models whose MLIR file contains constants. Large ones become weights in a file of their own
// instead of data in the library.
#include <gmock/gmock.h>

#include <filesystem>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "tests/support/run_kiln.h"

namespace kiln {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

constexpr int kRows = 128, kColumns = 160;

float Element(int number) { return static_cast<float>(number % 7 - 3); }

// Returns the MLIR attribute dense<"0x.."> with the f32 values Element(first), Element(first + 1) and so on; by default
// 80 KiB.
std::string Dense(int count = kRows * kColumns, int first = 0) {
  std::string bytes;
  for (int n = first; n < first + count; ++n) {
    const float value = Element(n);
    bytes.append(reinterpret_cast<const char*>(&value), sizeof value);
  }
  return absl::StrCat("dense<\"0x", absl::BytesToHexString(bytes), "\">");
}

// Returns MLIR text with the constants w and v of 80 KiB each, and h = x * w. `body` is the text that computes y from
// h.
std::string Net(absl::string_view body) {
  return absl::StrReplaceAll(R"(
func.func @net(%x: tensor<2x128xf32>) -> tensor<2x128xf32> {
  %z = arith.constant 0.0 : f32
  %w = arith.constant DENSE : tensor<128x160xf32>
  %v = arith.constant DENSE : tensor<160x128xf32>
  %he = tensor.empty() : tensor<2x160xf32>
  %hi = linalg.fill ins(%z : f32) outs(%he : tensor<2x160xf32>) -> tensor<2x160xf32>
  %h = linalg.matmul ins(%x, %w : tensor<2x128xf32>, tensor<128x160xf32>) outs(%hi : tensor<2x160xf32>)
      -> tensor<2x160xf32>
  %ye = tensor.empty() : tensor<2x128xf32>
  %yi = linalg.fill ins(%z : f32) outs(%ye : tensor<2x128xf32>) -> tensor<2x128xf32>
BODY
  return %y : tensor<2x128xf32>
})",
                             {{"BODY", body}, {"DENSE", Dense()}});
}

constexpr char kProduct[] = R"(
  %y = linalg.matmul ins(%h, %v : tensor<2x160xf32>, tensor<160x128xf32>) outs(%yi : tensor<2x128xf32>)
      -> tensor<2x128xf32>)";

constexpr char kCaller[] =
    "#include \"net.h\""
    R"(
#include <stdio.h>
#include <stdlib.h>
int main(void) {
  float x[256], y[256];
  for (int i = 0; i < 256; ++i) x[i] = i % 5;
  void* weights = aligned_alloc(NET_ALIGNMENT, NET_WEIGHTS_BYTES);
  void* arena = aligned_alloc(NET_ALIGNMENT, NET_ARENA_BYTES);
  FILE* file = fopen("out/net.weights", "rb");
  if (fseek(file, NET_WEIGHTS_OFFSET, SEEK_SET) != 0) return 2;
  if (fread(weights, 1, NET_WEIGHTS_BYTES, file) != NET_WEIGHTS_BYTES) return 3;
  if (net(weights, x, y, arena) != 0) return 4;
  for (int i = 0; i < 256; ++i) printf("%g ", y[i]);
  return 0;
}
)";

TEST(EmbeddedConstants, ArePreparedWhenTheModelIsBuilt) {
  const TemporaryFolder folder;
  const Ran built = RunKiln({"build", folder.Write("net.mlir", Net(kProduct)), "-o", folder / "out", "--db",
                             folder / "none.db", "--check", "--json"});
  ASSERT_EQ(built.exit_code, 0) << built.err;
  EXPECT_LT(built.json()["accuracy"]["error"].get<double>(), 1e-5);
  EXPECT_LT(std::filesystem::file_size(folder / "out/net.so"), 80 << 10);

  folder.Write("use.c", kCaller);
  const std::string line =
      absl::StrCat("cd ", folder.path(), " && cc -std=c11 -Wall -Wextra -Werror -Iout use.c out/net.a",
                   " -lm -o use && ./use > said.txt");
  ASSERT_EQ(std::system(line.c_str()), 0);
  std::string wanted;
  for (int r = 0; r < 2; ++r) {
    float h[kColumns] = {};  // all numbers are integers that floats hold
    for (int c = 0; c < kColumns; ++c) {
      for (int k = 0; k < kRows; ++k)
        h[c] += static_cast<float>((r * kRows + k) % 5) * Element(k * kColumns + c);
    }
    for (int c = 0; c < kRows; ++c) {
      float y = 0;
      for (int k = 0; k < kColumns; ++k) y += h[k] * Element(k * kRows + c);
      absl::StrAppend(&wanted, y, " ");
    }
  }
  EXPECT_EQ(ReadText(folder / "said.txt"), wanted);
}

TEST(EmbeddedConstants, GoToAFileOfTheirOwnForAnotherMachine) {
  const TemporaryFolder folder;
  const Ran built = RunKiln({"build", folder.Write("net.mlir", Net(kProduct)), "-o", folder / "out", "--db",
                             folder / "none.db", "--target", "x86-64-v3"});
  ASSERT_EQ(built.exit_code, 0) << built.err;
  EXPECT_THAT(ReadText(folder / "out/net.h"), HasSubstr("are in net.constants.safetensors"));
  const Ran with = RunKiln({"build", folder / "net.mlir", "-o", folder / "with", "--db", folder / "none.db",
                            "--weights", folder / "out/net.constants.safetensors"});
  EXPECT_EQ(with.exit_code, 2);  // they are in the file already
  EXPECT_THAT(with.err, HasSubstr("surplus"));
}

TEST(EmbeddedConstants, AreReadByForeignCalls) {
  const TemporaryFolder folder;
  const Ran built = RunKiln({"build", folder.Write("net.mlir", Net(R"(
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %p = linalg.matmul ins(%h, %v : tensor<2x160xf32>, tensor<160x128xf32>) outs(%yi : tensor<2x128xf32>)
      -> tensor<2x128xf32>
  %y = scf.for %i = %c0 to %c2 step %c1 iter_args(%s = %p) -> (tensor<2x128xf32>) {
    %row = tensor.extract_slice %v[%i, 0] [2, 128] [1, 1] : tensor<160x128xf32> to tensor<2x128xf32>
    %n = linalg.add ins(%s, %row : tensor<2x128xf32>, tensor<2x128xf32>) outs(%ye : tensor<2x128xf32>)
        -> tensor<2x128xf32>
    scf.yield %n : tensor<2x128xf32>
  })")),
                             "-o", folder / "out", "--db", folder / "none.db", "--check", "--json"});
  ASSERT_EQ(built.exit_code, 0) << built.err;
  EXPECT_EQ(built.json()["tasks"].back()["schedule"], "foreign");
  EXPECT_LT(built.json()["accuracy"]["error"].get<double>(), 1e-5);
  EXPECT_LT(std::filesystem::file_size(folder / "out/net.so"), 80 << 10);
}

// Returns MLIR text of two equal layers, each a product with `width` x `width` weights and a bias. The file contains
// the weights and biases of both.
std::string Layers(int width) {
  std::string text = R"(
func.func @net(%y0: tensor<2xWIDTHxf32>) -> tensor<2xWIDTHxf32> {
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<2xWIDTHxf32>
  %i = linalg.fill ins(%z : f32) outs(%e : tensor<2xWIDTHxf32>) -> tensor<2xWIDTHxf32>)";
  for (const int n : {1, 2}) {
    absl::StrAppend(&text, absl::StrReplaceAll(R"(
  %wTO = arith.constant WEIGHTS : tensor<WIDTHxWIDTHxf32>
  %bTO = arith.constant BIAS : tensor<WIDTHxf32>
  %hTO = linalg.matmul ins(%yFROM, %wTO : tensor<2xWIDTHxf32>, tensor<WIDTHxWIDTHxf32>)
      outs(%i : tensor<2xWIDTHxf32>) -> tensor<2xWIDTHxf32>
  %yTO = linalg.generic {indexing_maps = [affine_map<(r, c) -> (r, c)>, affine_map<(r, c) -> (c)>,
      affine_map<(r, c) -> (r, c)>], iterator_types = ["parallel", "parallel"]}
      ins(%hTO, %bTO : tensor<2xWIDTHxf32>, tensor<WIDTHxf32>) outs(%e : tensor<2xWIDTHxf32>) {
  ^bb0(%h: f32, %b: f32, %o: f32):
    %s = arith.addf %h, %b : f32
    linalg.yield %s : f32
  } -> tensor<2xWIDTHxf32>)",
                                               {{"FROM", absl::StrCat(n - 1)},
                                                {"TO", absl::StrCat(n)},
                                                {"WEIGHTS", Dense(width * width, n)},
                                                {"BIAS", Dense(width, n)}}));
  }
  absl::StrAppend(&text, "\n  return %y2 : tensor<2xWIDTHxf32>\n}\n");
  return absl::StrReplaceAll(text, {{"WIDTH", absl::StrCat(width)}});
}

TEST(EmbeddedConstants, SmallOnesAreWeightsBesideLargeOnesSoThatEqualLayersAreOneTask) {
  const TemporaryFolder folder;
  const Ran built = RunKiln({"build", folder.Write("net.mlir", Layers(128)), "-o", folder / "out", "--db",
                             folder / "none.db", "--check", "--json"});
  ASSERT_EQ(built.exit_code, 0) << built.err;
  EXPECT_EQ(built.json()["tasks"].size(), 1);
  EXPECT_EQ(built.json()["calls"], 2);
  EXPECT_LT(built.json()["accuracy"]["error"].get<double>(), 1e-5);
}

TEST(EmbeddedConstants, SmallOnesAloneStayInTheLibrary) {
  const TemporaryFolder folder;
  const Ran built = RunKiln(
      {"build", folder.Write("net.mlir", Layers(16)), "-o", folder / "out", "--db", folder / "none.db"});
  ASSERT_EQ(built.exit_code, 0) << built.err;
  EXPECT_THAT(built.out, Not(HasSubstr(".weights")));
}

// Builds a file with a single task. Expects that its constant of 80 KiB is in the library, and that there is no file of
// weights.
TEST(EmbeddedConstants, OfOneTaskStayInIt) {
  const TemporaryFolder folder;
  const Ran built = RunKiln({"build", folder.Write("net.mlir", R"(
func.func @net(%x: tensor<2x128xf32>) -> tensor<2x160xf32> {
  %z = arith.constant 0.0 : f32
  %w = arith.constant )" + Dense() + R"( : tensor<128x160xf32>
  %e = tensor.empty() : tensor<2x160xf32>
  %i = linalg.fill ins(%z : f32) outs(%e : tensor<2x160xf32>) -> tensor<2x160xf32>
  %y = linalg.matmul ins(%x, %w : tensor<2x128xf32>, tensor<128x160xf32>) outs(%i : tensor<2x160xf32>)
      -> tensor<2x160xf32>
  return %y : tensor<2x160xf32>
})"),
                             "-o", folder / "out", "--db", folder / "none.db"});
  ASSERT_EQ(built.exit_code, 0) << built.err;
  EXPECT_THAT(ReadText(folder / "out/net.h"), Not(HasSubstr("in the order of the table")));
  EXPECT_GT(std::filesystem::file_size(folder / "out/net.so"), 80 << 10);
  EXPECT_THAT(built.out, Not(HasSubstr(".weights")));
}

}  // namespace
}  // namespace kiln
