#include "modules/space.h"

#include <gmock/gmock.h>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "lang/program/builder.h"
#include "lang/text/text.h"
#include "modules/default_modules.h"

namespace kiln {
namespace {

Program Matmul() {
  Builder b("matmul");
  const Id x = b.Input("A", DType::kF32, {64, 64}), y = b.Input("B", DType::kF32, {64, 64});
  const Id z = b.Output("C", DType::kF32, {64, 64});
  const IndexSum i = Builder::Iter(0), j = Builder::Iter(1), k = Builder::Iter(2);
  b.Reduce("matmul", {{"i", 64}, {"j", 64}, {"k", 64, IterKind::kReduction}}, Monoid::Kind::kSum, {z, {i, j}},
           b.Mul(b.Load(x, {i, k}), b.Load(y, {k, j})));
  return b.Finish();
}

// Returns the steps that a space makes for a matmul with a fixed seed, as text.
std::string Steps(const Space& space, const Target& target = {}) {
  RandomDice dice(Engine{7});
  RandomChooser chooser(dice);
  Schedule s(Matmul(), target, chooser);
  space(s);
  EXPECT_TRUE(s.ok()) << s.status();
  std::string text;
  for (const Step& step : s.steps()) text += ToString(step) + "\n";
  return text;
}

std::string ErrorOf(absl::string_view text) { return std::string(ParseSpace(text).status().message()); }

TEST(Space, StringMeansTheSameAsTheFunctionsItNames) {
  const auto parsed = ParseSpace(
      "each-block(auto-inline | multi-level-tiling structure=SSRSRS max-innermost=64) | "
      "random-compute-location | parallelize-vectorize-unroll max-vector=64");
  ASSERT_TRUE(parsed.ok()) << parsed.status();
  const Space composed = [](Schedule& s) {
    EachBlock(s, {AutoInline(), MultiLevelTiling({.structure = "SSRSRS", .max_innermost = 64})});
    RunSpace(s, "random-compute-location", RandomComputeLocation);
    RunSpace(s, "parallelize-vectorize-unroll", ParallelizeVectorizeUnroll({.max_vector = 64}));
  };
  EXPECT_EQ(Steps(*parsed), Steps(composed));
}

TEST(Space, DefaultOfACpuParses) {
  const auto space = ParseSpace(DefaultSpace(Target()));
  ASSERT_TRUE(space.ok()) << space.status();
  EXPECT_NE(Steps(*space).find("sample-perfect-tile"), std::string::npos);
}

TEST(Space, ANamedSpaceIsItsItems) {
  EXPECT_EQ(
      ExpandSpace("each-block(a | b)  | cpu dots=0|late", Target()),
      "each-block(a | b) | skip-zeros | drop-padded-terms | each-block(inline-constant-scalars | auto-inline) "
      "| each-block(auto-inline | add-rfactor | pad-to-tile | multi-level-tiling) | each-block("
      "non-temporal-stores | row-blocking) | random-compute-location | vectorize-rows | "
      "parallelize-vectorize-unroll | late");
}

TEST(Space, ModulesOfAUserJoinTheDefaultBehindTheInlining) {
  EXPECT_THAT(ExpandSpace("cpu with=a,b dots=0", Target()),
              testing::HasSubstr("| auto-inline) | each-block(a | b | auto-inline | add-rfactor | "));
}

TEST(Space, OptionsReachTheModule) {
  const auto space = ParseSpace("parallelize-vectorize-unroll max-unroll=3,5");
  ASSERT_TRUE(space.ok()) << space.status();
  EXPECT_NE(Steps(*space).find("values=[3 5]"), std::string::npos);
}

TEST(Space, ErrorsNameTheColumnAndWhatIsKnown) {
  const std::string known = "known: each-block, " + absl::StrJoin(ModuleNames(), ", ");
  EXPECT_EQ(ErrorOf("each-block(auto-inlin)"),
            absl::StrCat("space:1:22: unknown module \"auto-inlin\"; ", known));
  EXPECT_EQ(ErrorOf("auto-inline"),
            "space:1:12: auto-inline is a module of a block; write each-block(auto-inline)");
  EXPECT_EQ(ErrorOf("each-block(cpu)"),
            "space:1:15: cpu is a module of a program; it stands outside of each-block");
  EXPECT_EQ(ErrorOf("each-block(auto-inline"), "space:1:23: wanted | or )");
  EXPECT_EQ(ErrorOf("cpu cpu"), "space:1:8: wanted = after cpu");
  EXPECT_EQ(ErrorOf("parallelize-vectorize-unroll max-vector=wide"),
            "space:1:45: option max-vector of module parallelize-vectorize-unroll is \"wide\"; it "
            "takes a number from 1 to 2147483647");
  EXPECT_EQ(ErrorOf("each-block(multi-level-tiling levels=3)"),
            "space:1:39: module multi-level-tiling has no option \"levels\"; it has structure, "
            "max-innermost, max-reduction, waste-percent, epilogue");
  EXPECT_EQ(ErrorOf(""), absl::StrCat("space:1:1: unknown module \"\"; ", known));
}

TEST(Space, OptionsAllowWhatTheirModulesSay) {
  const auto tiling = [](absl::string_view option) {
    return ErrorOf(absl::StrCat("each-block(multi-level-tiling ", option, ")"));
  };
  EXPECT_EQ(
      tiling("structure=SSRSRX"),
      "space:1:47: option structure of module multi-level-tiling is \"SSRSRX\"; it takes a letter for each "
      "level of tiles, S of spatial loops and R of reductions, such as SSRSRS; each of the two once at "
      "least");
  for (const char* wrong :
       {"structure=SSS", "structure=RR", "structure=ssr", "max-innermost=-3", "max-innermost=0",
        "max-innermost=1,2", "max-innermost=99999999999999999999", "max-reduction=-1", "waste-percent=101",
        "epilogue=0", "epilogue=1,,2", "max-innermost=4 max-innermost=8"})
    EXPECT_NE(tiling(wrong), "") << wrong;
  for (const char* right : {"structure=SR", "structure=RSRS", "max-innermost=1", "max-reduction=0",
                            "waste-percent=100", "epilogue=1,2", "max-innermost=4 max-reduction=8"})
    EXPECT_EQ(tiling(right), "") << right;
  for (const char* wrong :
       {"each-block(auto-inline into-consumer=2)", "each-block(auto-inline disallow=exp,tanhh)",
        "each-block(multi-level-tiling-with-intrinsic families=vnnni)",
        "each-block(add-rfactor max-jobs-per-core=0)", "each-block(pad-to-tile waste-percent=-1)",
        "each-block(row-blocking max-rows=0)", "each-block(non-temporal-stores l2-multiple=-4)", "cpu dots=2",
        "cpu with=a,,b", "vectorize-rows lanes=8,-8", "parallelize-vectorize-unroll max-unroll=-1",
        "parallelize-vectorize-unroll max-jobs-per-core=0"})
    EXPECT_THAT(ErrorOf(wrong), testing::HasSubstr("; it takes ")) << wrong;
}

TEST(Space, ALevelThatTheStructureDoesNotHaveFails) {
  const auto space = ParseSpace("each-block(multi-level-tiling structure=SRS epilogue=4)");
  ASSERT_TRUE(space.ok()) << space.status();
  RandomDice dice(Engine{7});
  RandomChooser chooser(dice);
  Schedule s(Matmul(), Target(), chooser);
  (*space)(s);
  EXPECT_EQ(s.status().message(),
            "the option epilogue of multi-level tiling names level 4; structure SRS has levels 1 to 3");
}

TEST(Space, EndsAtItsLastCharacterAndNotAtAZero) {
  EXPECT_FALSE(ParseSpace(absl::string_view("cpu\0 | nonsense", 15)).ok());
}

}  // namespace
}  // namespace kiln
