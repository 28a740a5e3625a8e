// Tests lists that follow from the table of CPU instructions. tests/backends/cpu_instructions_test.cc tests what the
// instructions compute.
#include "lang/intrinsics/cpu_instructions.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace kiln {
namespace {

using ::testing::ElementsAre;

// The groups of CPU instructions are in the order of the table, since records of default spaces hold this list.
TEST(CpuInstructions, GroupsAreInTheOrderOfRows) {
  EXPECT_THAT(CpuInstructionGroups(), ElementsAre("vnni", "bf16", "f16", "amx", "sdot", "usdot"));
}

// The CPU features of an architecture are in the order of the table, since keys of runs hold the features of the
// machine in this order.
TEST(CpuInstructions, FeaturesOfAnArchitectureAreInTheOrderOfRows) {
  EXPECT_THAT(CpuInstructionFeatures("x86"), ElementsAre("avxvnni", "avx512vnni", "avx512bf16", "avx10.2",
                                                         "amx-tile", "amx-int8", "amx-bf16", "amx-fp16"));
  EXPECT_THAT(CpuInstructionFeatures("aarch64"), ElementsAre("dotprod", "i8mm"));
  EXPECT_THAT(CpuInstructionFeatures("riscv"), ElementsAre());
}

TEST(CpuInstructions, OneAlternativeOfFeaturesSuffices) {
  const auto found = [](const char* intrinsic, const char* features) {
    return FindCpuInstruction(intrinsic, features) != nullptr;
  };
  EXPECT_TRUE(found("vnni.8x4.compute", "+avx2,+avxvnni"));
  EXPECT_TRUE(found("vnni.8x4.compute", "+avx512vnni"));
  EXPECT_FALSE(found("vnni.8x4.compute", "+avx2,-avxvnni"));
  EXPECT_TRUE(found("amx.bf16.compute", "+amx-bf16"));
  EXPECT_FALSE(found("amx.bf16.compute", "+amx-tile,+amx-int8"));
  EXPECT_FALSE(found("fma.6x16.compute", "+fma"));
}

}  // namespace
}  // namespace kiln
