// Tests case files of modules, which hold a space, a target, a program and the expected sketches: ParseModuleCase reads
// them, and errors name the line. Also tests that SketchesText says which sketch or site is missing.
#include "testing/case_files.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "absl/strings/str_replace.h"

namespace kiln {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Pair;
using testing::StartsWith;

constexpr char kCase[] = R"(# Shows a program of one block.
space: each-block(auto-inline)
target: cores=4 features=+avx2 fma=0
sketch: write-reuse=1
decisions: S0=2,1 max-unroll=16

kiln.program v1
program twice
parameters x, y
buffer x: f32[8] input
buffer y: f32[8] output

for i < 8 {
  block twice {
    spatial i < 8 = i
    y[i] = x[i] + x[i]
  }
}

expected:
sketch
)";

TEST(CaseFiles, HoldAProgramASpaceAndWhatIsExpected) {
  const auto c = ParseModuleCase(kCase);
  ASSERT_TRUE(c.ok()) << c.status();
  EXPECT_EQ(c->space, "each-block(auto-inline)");
  EXPECT_EQ(c->target.cores, 4);
  EXPECT_EQ(c->target.features, "+avx2");
  EXPECT_FALSE(c->target.fma);
  EXPECT_THAT(c->shown.choices, ElementsAre(Pair("write-reuse", "1")));
  EXPECT_THAT(c->shown.decisions,
              ElementsAre(Pair("S0", ElementsAre(2, 1)), Pair("max-unroll", ElementsAre(16))));
  EXPECT_EQ(c->program.name, "twice");
  EXPECT_EQ(c->expected, "sketch\n");
}

TEST(CaseFiles, NewOnesHaveNoExpectedText) {
  const auto c = ParseModuleCase(absl::StrReplaceAll(kCase, {{"\nexpected:\nsketch\n", ""}}));
  ASSERT_TRUE(c.ok()) << c.status();
  EXPECT_EQ(c->expected, "");
}

TEST(CaseFiles, ErrorsNameTheLine) {
  const auto error = [](absl::string_view from, absl::string_view to) {
    return std::string(ParseModuleCase(absl::StrReplaceAll(kCase, {{from, to}})).status().message());
  };
  EXPECT_EQ(error("target: cores=4", "target: cares=4"),
            "in the line \"target: cares=4 features=+avx2 fma=0\": no target has cares=4");
  EXPECT_EQ(error("write-reuse=1", "write-reuse"),
            "in the line \"sketch: write-reuse\": wanted NAME=VALUE, found write-reuse");
  EXPECT_EQ(error("S0=2,1 max-unroll=16", "S0=2,one"),
            "in the line \"decisions: S0=2,one\": one is not a number");
  EXPECT_EQ(error("sketch: write", "sketches: write"),
            "in the line \"sketches: write-reuse=1\": wanted #, space:, target:, sketch: or decisions:");
  EXPECT_EQ(error("space: each-block(auto-inline)\n", ""), "no line begins with \"space: \"");
  EXPECT_THAT(error("spatial i < 8 = i", "spatial i < 8 = j"), HasSubstr("j"));
}

TEST(CaseFiles, SaysWhichSiteOrSketchIsMissing) {
  const auto c = ParseModuleCase(kCase);
  ASSERT_TRUE(c.ok()) << c.status();
  EXPECT_THAT(SketchesText(c->space, c->program, c->target, {.decisions = {{"S0", {1}}}}),
              StartsWith("sketch\nerror: there is no site S0\n"));
  EXPECT_THAT(SketchesText(c->space, c->program, c->target, {.choices = {{"write-reuse", "1"}}}),
              StartsWith("error: no sketch has these choices\n"));
  EXPECT_THAT(SketchesText("each-block(auto-inlin)", c->program),
              StartsWith("error: space:1:22: unknown module \"auto-inlin\";"));
}

}  // namespace
}  // namespace kiln
