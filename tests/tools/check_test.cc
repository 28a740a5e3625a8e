// Tests `kiln check`, which proves that a schedule computes the same as the program of a file.
#include <gmock/gmock.h>

#include "absl/strings/str_cat.h"
#include "test_paths.h"
#include "tests/support/run_kiln.h"

namespace kiln {
namespace {

using ::testing::HasSubstr;

const std::string kMatmul = std::string(KILN_SOURCE_DIR) + "/examples/matmul.mlir";

constexpr char kTiled[] =
    "kiln.trace v2\n"
    "b0 = get-block \"matmul\"\n"
    "l0, l1, l2 = get-loops b0\n"
    "l3, l4 = split l0 -1 7\n"
    "b1 = cache-read b0 operand=1 storage=\"stack\"\n"
    "parallel l3\n";

TEST(Check, ProvesAScheduleOfAnySize) {
  const TemporaryFolder folder;
  const Ran ran = RunKiln({"check", kMatmul, folder.Write("tiled.trace", kTiled)});
  EXPECT_EQ(ran.exit_code, 0) << ran.err;
  EXPECT_EQ(ran.out, "matmul: proven\n");
}

TEST(Check, WhatIsNotDecidedExitsWithFour) {
  const TemporaryFolder folder;
  const Ran ran = RunKiln({"check", kMatmul, folder.Write("tiled.trace", kTiled), "--time", "0", "--json"});
  EXPECT_EQ(ran.exit_code, 4) << ran.err;
  EXPECT_EQ(ran.json()["verdict"], "too hard");
  EXPECT_EQ(ran.json()["reason"], "of the original: the time is up");
}

constexpr char kWindow[] = R"(
func.func @window(%x: tensor<1x4x6x6xf32>, %w: tensor<4x4x3x3xf32>) -> tensor<1x4x6x6xf32> {
  %zero = arith.constant 0.0 : f32
  %padded = tensor.pad %x low[0, 0, 1, 1] high[0, 0, 1, 1] {
  ^bb0(%a: index, %b: index, %c: index, %d: index):
    tensor.yield %zero : f32
  } : tensor<1x4x6x6xf32> to tensor<1x4x8x8xf32>
  %empty = tensor.empty() : tensor<1x4x6x6xf32>
  %start = linalg.fill ins(%zero : f32) outs(%empty : tensor<1x4x6x6xf32>) -> tensor<1x4x6x6xf32>
  %y = linalg.conv_2d_nchw_fchw ins(%padded, %w : tensor<1x4x8x8xf32>, tensor<4x4x3x3xf32>)
                                outs(%start : tensor<1x4x6x6xf32>) -> tensor<1x4x6x6xf32>
  return %y : tensor<1x4x6x6xf32>
})";

// Tunes a padded convolution. The default space leaves out terms with the padding, which assumes that inputs are
// finite. Tests that tune, best, check and the exported header name this assumption.
TEST(Check, NamesWhatARecordAssumes) {
  const TemporaryFolder folder;
  const std::string file = folder.Write("window.mlir", kWindow), db = folder / "kiln.db";
  constexpr char kAssumes[] = "; assumes: finite inputs and intermediates\n";
  const Ran tuned = RunKiln({"tune", file, "--trials", "2", "--db", db, "-o", folder / "out"});
  ASSERT_EQ(tuned.exit_code, 0) << tuned.err;
  EXPECT_THAT(tuned.out, HasSubstr(absl::StrCat("proven and verified", kAssumes)));
  EXPECT_THAT(ReadText(folder / "out/window.h"), HasSubstr(absl::StrCat("proven and verified", kAssumes)));
  const nlohmann::json best = RunKiln({"best", "--db", db, "--json"}).json()[0];
  EXPECT_EQ(best["assumptions"], "finite inputs and intermediates");
  const std::string id = absl::StrCat(best["id"].get<int64_t>());
  const Ran checked = RunKiln({"check", id, "--db", db});
  EXPECT_EQ(checked.exit_code, 0) << checked.err;
  EXPECT_EQ(checked.out, absl::StrCat("window: proven", kAssumes));
  EXPECT_EQ(RunKiln({"check", id, "--db", db, "--json"}).json()["assumptions"], best["assumptions"]);
  // Prints the trace of the record and checks it against the file: the output is the same as for the record.
  const Ran trace = RunKiln({"show", id, "--db", db, "--stage", "trace"});
  EXPECT_THAT(trace.out, HasSubstr("assume-finite b"));
  EXPECT_EQ(RunKiln({"check", file, folder.Write("best.trace", trace.out)}).out, checked.out);
  const Ran plan = RunKiln({"show", id, "--db", db, "--stage", "plan"});
  EXPECT_THAT(plan.out, testing::ContainsRegex("^kiln.program v1\nprogram "));
  EXPECT_THAT(plan.out, HasSubstr("\nkiln.plan v1\n")) << plan.err;
}

TEST(Check, SaysWhatIsNoTraceAndNoRecord) {
  const TemporaryFolder folder;
  const Ran text = RunKiln({"check", kMatmul, folder.Write("bad.trace", "kiln.trace v2\nb0 = bake\n")});
  EXPECT_EQ(text.exit_code, 1);
  EXPECT_THAT(text.err, HasSubstr("bad.trace: trace:2:"));
  const Ran step =
      RunKiln({"check", kMatmul, folder.Write("other.trace", "kiln.trace v2\nb0 = get-block \"other\"\n")});
  EXPECT_EQ(step.exit_code, 1);
  EXPECT_THAT(step.err, HasSubstr("step 0 does not apply"));
  EXPECT_EQ(RunKiln({"check", kMatmul}).exit_code, 2);
  EXPECT_THAT(RunKiln({"check", kMatmul}).err, HasSubstr("is not a record"));
  EXPECT_EQ(RunKiln({"check", kMatmul, folder / "none.trace"}).exit_code, 1);
}

}  // namespace
}  // namespace kiln
