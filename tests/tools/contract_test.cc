// Tests the option --no-contract, with which multiplications and additions are not fused: the code rounds each product,
// and records with and without the option are kept apart.
#include <gmock/gmock.h>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "backends/cpu/machine.h"
#include "tests/support/run_kiln.h"

namespace kiln {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

// MLIR text of a * b * 3 + d, where a * b is a matrix product, and the rest is per element.
constexpr char kAffine[] =
    "#map = affine_map<(i, j) -> (i, j)>\n"
    "func.func @affine(%a: tensor<8x16xf32>, %b: tensor<16x32xf32>, %d: tensor<8x32xf32>) -> "
    "tensor<8x32xf32> {\n"
    "  %zero = arith.constant 0.0 : f32\n  %three = arith.constant 3.0 : f32\n"
    "  %e = tensor.empty() : tensor<8x32xf32>\n"
    "  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<8x32xf32>) -> tensor<8x32xf32>\n"
    "  %c = linalg.matmul ins(%a, %b : tensor<8x16xf32>, tensor<16x32xf32>) outs(%f : tensor<8x32xf32>) -> "
    "tensor<8x32xf32>\n"
    "  %g = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = [\"parallel\", "
    "\"parallel\"]} ins(%c, %d : tensor<8x32xf32>, tensor<8x32xf32>) outs(%e : tensor<8x32xf32>) {\n"
    "  ^bb0(%x: f32, %y: f32, %o: f32):\n"
    "    %p = arith.mulf %x, %three : f32\n    %s = arith.addf %p, %y : f32\n    linalg.yield %s : f32\n"
    "  } -> tensor<8x32xf32>\n"
    "  return %g : tensor<8x32xf32>\n}\n";

class NoContract : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    folder_ = new TemporaryFolder;
    folder_->Write("affine.mlir", kAffine);
    fusing_ = RecordOf(Tuned({}));
    again_ = Tuned(kReplay);
    std::vector<std::string> without = kReplay;
    without.emplace_back("--no-contract");
    without_ = Tuned(without);
    rounding_ = RecordOf(without_);
  }
  static void TearDownTestSuite() { delete folder_; }
  void SetUp() override {
    if (!Host().fma) GTEST_SKIP() << "no FMA";
  }

  static Ran Kiln(const std::vector<std::string>& arguments) { return RunKiln(arguments, folder_->path()); }
  static nlohmann::json Tuned(const std::vector<std::string>& more) {
    std::vector<std::string> line = {"tune", "affine.mlir", "--trials", "4", "--json"};
    line.insert(line.end(), more.begin(), more.end());
    const Ran tuned = Kiln(line);
    EXPECT_EQ(tuned.exit_code, 0) << tuned.err;
    return tuned.json()["tasks"][0];
  }
  static std::string RecordOf(const nlohmann::json& task) {
    return absl::StrCat(task["record"].get<int64_t>());
  }
  static std::string Assembly(const std::string& record) {
    return Kiln({"show", record, "--stage", "asm", "--target", "x86-64-v3"}).out;
  }

  // Options with which `kiln tune` replays the traces of kiln.db, the database of the first search, instead of
  // searching.
  static inline const std::vector<std::string> kReplay = {"--strategy", "replay", "--replay", "kiln.db"};
  static inline TemporaryFolder* folder_ = nullptr;
  static inline nlohmann::json again_, without_;
  static inline std::string rounding_, fusing_;  // records
};

TEST_F(NoContract, IsMeasuredApartFromTheOther) {
  EXPECT_EQ(again_["trials"], 0) << "nothing is measured twice";
  EXPECT_EQ(without_["trials"], 4);
}

TEST_F(NoContract, LeavesNoFusedOperation) {
  EXPECT_THAT(Assembly(fusing_), HasSubstr("vfm"));
  EXPECT_THAT(Assembly(rounding_), HasSubstr("vmulps"));
  EXPECT_THAT(Assembly(rounding_), Not(HasSubstr("vfm")));
}

TEST_F(NoContract, StaysWithTheRecord) {
  const Ran shown = Kiln({"show", rounding_, "--stage", "mlir", "--json"});
  EXPECT_THAT(shown.json()["flags"].get<std::string>(), Not(HasSubstr("contract")));
  EXPECT_THAT(shown.json()["text"].get<std::string>(), Not(HasSubstr("fma")));
  EXPECT_THAT(Kiln({"show", fusing_}).err, HasSubstr("multiply-adds fused"));
  const Ran replayed = Kiln({"replay", rounding_, "--json"});
  EXPECT_TRUE(replayed.json()["verified"]) << replayed.err;
  for (const std::string& record : {rounding_, fusing_}) {
    const Ran exported = Kiln({"export", record, "-o", record});
    ASSERT_EQ(exported.exit_code, 0) << exported.err;
    const std::string mlir = ReadText(absl::StrCat(folder_->path(), "/", record, "/affine.mlir"));
    EXPECT_EQ(absl::StrContains(mlir, "fma") || absl::StrContains(mlir, "contract"), record == fusing_);
  }
}

TEST_F(NoContract, IsListedBesideTheOther) {
  const Ran best = Kiln({"best", "--json"});
  ASSERT_EQ(best.json().size(), 2) << best.out;
  int with = 0;
  for (const auto& row : best.json()) with += absl::StrContains(row["flags"].get<std::string>(), "contract");
  EXPECT_EQ(with, 1) << best.out;
  EXPECT_THAT(Kiln({"best"}).out, HasSubstr(" multiply-adds fused"));
}

}  // namespace
}  // namespace kiln
