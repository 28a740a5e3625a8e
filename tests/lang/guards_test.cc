// Tests the analysis of guards: whether a block reads less, or writes less, than the region of its tiles. Also tests
// the bindings of a block inside a block.
#include "lang/analysis/guards.h"

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "lang/program/builder.h"
#include "lang/text/text.h"
#include "testing/scheduled.h"

namespace kiln {
namespace {

// Returns true if the analysis of guards says that C[i] = T[i + 1], for i < 10 in tiles of `tile`, may read less of T
// than the region that its tiles span.
bool ReadsLess(int64_t tile) {
  Builder b("shifted");
  const Id C = b.Output("C", DType::kF32, {10}), T = b.Input("T", DType::kF32, {11});
  b.Compute("shift", {{"i", 10}}, {C, {b.Iter(0)}}, b.Load(T, {b.Iter(0) + IndexSum::Constant(1)}));
  Schedule s = Scheduled(b.Finish());
  const Block block = s.GetBlock("shift");
  s.Split(s.GetLoops(block)[0], {kAuto, tile});
  return ReadsLessThanRegion(s.program(), ResolveBindings(s.program(), s.node(block)), T);
}

TEST(Guards, CutOffAPartOfWhatIsReadAtAnOffset) {
  EXPECT_FALSE(ReadsLess(5));
  EXPECT_TRUE(ReadsLess(4));  // a tile ends at 12, and reads T[1..12] but for what the guard forbids
}

// Returns the program B[i] = A[i] for i < 3. The text `domain` stands behind the block's iter: a domain of the block,
// or "".
Program Stores(absl::string_view domain) {
  return ParseProgram(absl::StrCat(R"(kiln.program v1
program stores
parameters A, B
buffer A: i32[3] input
buffer B: i32[3] output
for l < 3 {
  block b {
    spatial i < 3 = l
)",
                                   domain, R"(    B[i] = A[i]
  }
}
)"))
      .value();
}

TEST(Guards, ABlockWithADomainMayLeaveGapsInWhatItWrites) {
  const auto writes = [](const Program& p) {
    return WritesItsRegion(p, ResolveBindings(p, 2), p.parameters[1]);
  };
  EXPECT_TRUE(writes(Stores("")));
  EXPECT_FALSE(writes(Stores("    domain (i < 2)\n")));
}

TEST(Bindings, DivideWhatIsBoundAroundABlock) {
  const Program p = ParseProgram(R"(kiln.program v1
program halves
parameters A, B
buffer A: i32[8] input
buffer B: i32[4] output
for l < 8 {
  block tile {
    spatial t < 8 = l
    block b {
      spatial i < 4 = t/2
      B[i] = A[i]
    }
  }
}
)")
                        .value();
  const Bindings b = ResolveBindings(p, 3);
  EXPECT_EQ(ToString(b.iters[0], [](Source) { return "l"; }), "l/2");
}

}  // namespace
}  // namespace kiln
