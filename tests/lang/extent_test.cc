#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "lang/program/ids.h"
#include "lang/reference/interpreter.h"
#include "lang/text/text.h"
#include "testing/scheduled.h"

namespace kiln {
namespace {

using ::testing::HasSubstr;

constexpr absl::string_view kCopyOfN = R"(kiln.program v1 program some parameters n, A, Y
    buffer n: i64[] scalar  buffer A: f32[n{4..16/4}] input  buffer Y: f32[n{4..16/4}] output
    for i < n{4..16/4} { block copy { spatial x < n{4..16/4} = i  Y[x] = A[x] } })";

TEST(Extent, AConstantIsKnownAndItsOwnBound) {
  const Extent extent = 12;
  EXPECT_TRUE(extent.constant());
  EXPECT_EQ(extent.Known(), 12);
  EXPECT_EQ(extent.LowerBound(), 12);
  EXPECT_EQ(extent.UpperBound(), 12);
  EXPECT_EQ(extent.divisor(), 12);
  EXPECT_EQ(extent, Extent(12));
  EXPECT_FALSE(extent == Extent(13));
}

TEST(Extent, AParameterHasBoundsAndIsNotKnown) {
  const Extent extent = Extent::Parameter(3, 4, 16, 4);
  EXPECT_FALSE(extent.constant());
  EXPECT_EQ(extent.LowerBound(), 4);
  EXPECT_EQ(extent.UpperBound(), 16);
  EXPECT_EQ(extent.divisor(), 4);
  EXPECT_EQ(extent.parameter(), 3);
  EXPECT_FALSE(extent == Extent::Parameter(2, 4, 16, 4));
  EXPECT_FALSE(extent == Extent(16));
  EXPECT_DEATH(extent.Known(), "the extent is a parameter");
}

TEST(Extent, ProgramsOverParametersParseAndPrint) {
  const auto program = ParseProgram(kCopyOfN);
  ASSERT_TRUE(program.ok()) << program.status();
  EXPECT_THAT(ToString(*program), HasSubstr("n{4..16/4}"));
  EXPECT_EQ(ToString(*ParseProgram(ToString(*program))), ToString(*program));
}

TEST(Extent, WhatNeedsConstantsRefusesParametersByName) {
  const Program program = ParseProgram(kCopyOfN).value();
  EXPECT_EQ(Scheduled(program).status().message(),
            "buffer A has an extent that is a parameter; a schedule needs constant extents");
  EXPECT_EQ(kiln::Run(program, {}).status().message(),
            "buffer A has an extent that is a parameter; the interpreter needs constant extents");
}

}  // namespace
}  // namespace kiln
