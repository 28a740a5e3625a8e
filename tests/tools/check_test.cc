// `kiln check`: proofs on the command line.
#include <gmock/gmock.h>

#include "test_paths.h"
#include "tests/support/run_kiln.h"

namespace kiln {
namespace {

using ::testing::HasSubstr;

const std::string kMatmul = std::string(KILN_SOURCE_DIR) + "/examples/matmul.mlir";

constexpr char kTiled[] =
    "kiln.trace v1\n"
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

TEST(Check, SaysWhatIsNoTraceAndNoRecord) {
  const TemporaryFolder folder;
  const Ran text = RunKiln({"check", kMatmul, folder.Write("bad.trace", "kiln.trace v1\nb0 = bake\n")});
  EXPECT_EQ(text.exit_code, 1);
  EXPECT_THAT(text.err, HasSubstr("bad.trace: trace:2:"));
  const Ran step =
      RunKiln({"check", kMatmul, folder.Write("other.trace", "kiln.trace v1\nb0 = get-block \"other\"\n")});
  EXPECT_EQ(step.exit_code, 1);
  EXPECT_THAT(step.err, HasSubstr("step 0 does not apply"));
  EXPECT_EQ(RunKiln({"check", kMatmul}).exit_code, 2);
  EXPECT_THAT(RunKiln({"check", kMatmul}).err, HasSubstr("is no record"));
  EXPECT_EQ(RunKiln({"check", kMatmul, folder / "none.trace"}).exit_code, 1);
}

}  // namespace
}  // namespace kiln
