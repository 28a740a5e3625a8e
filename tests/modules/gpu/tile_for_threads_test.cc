// Tests which choices and sites the module tile-for-threads offers. tests/modules/cases/gpu has the programs that it
// makes.
#include <gmock/gmock.h>

#include "lang/program/builder.h"
#include "lang/target/gpu_target.h"
#include "testing/module_cases.h"

namespace kiln {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

// Returns the text of the sketches of C[i, j] sum= A[i, k] * B[k, j] on an h100, where A is X, or twice X if `doubles`.
std::string SketchesOf(DType dtype, bool doubles = false) {
  Builder b("matmul");
  const Id X = b.Input("X", dtype, {16, 8}), B = b.Input("B", dtype, {8, 16}),
           C = b.Output("C", dtype, {16, 16});
  Id A = X;
  if (doubles) {
    A = b.Temporary("A", dtype, {16, 8});
    const Id x = b.Load(X, {b.Iter(0), b.Iter(1)});
    b.Compute("double", {{"i", 16}, {"k", 8}}, {A, {b.Iter(0), b.Iter(1)}}, b.Add(x, x));
  }
  b.Reduce("matmul", {{"i", 16}, {"j", 16}, {"k", 8, IterKind::kReduction}}, Monoid::Kind::kSum,
           {C, {b.Iter(0), b.Iter(1)}},
           b.Mul(b.Load(A, {b.Iter(0), b.Iter(2)}), b.Load(B, {b.Iter(2), b.Iter(1)})));
  return SketchesText("each-block(tile-for-threads)", b.Finish(), GpuTarget(*FindGpu("h100")));
}

TEST(TileForThreads, OffersPipelinesOfTwoTransports) {
  EXPECT_THAT(
      SketchesOf(DType::kF32),
      AllOf(HasSubstr("sketch operands=shared\n"), HasSubstr("sketch operands=direct\n"),
            HasSubstr("sketch operands=pipeline transport=async\n"), HasSubstr("values=[2 3 4]"),
            HasSubstr("sketch operands=pipeline transport=sync\n"), HasSubstr(" 2 transport=\"sync\"")));
}

TEST(TileForThreads, LoadsAndStoresWhatItComputesOnTheWay) {
  EXPECT_THAT(SketchesOf(DType::kF32, /*doubles=*/true),
              AllOf(HasSubstr("sketch operands=pipeline\n"), Not(HasSubstr("async"))));
}

TEST(TileForThreads, LetsAThreadCopySixteenBytesAtOnce) {
  EXPECT_THAT(SketchesOf(DType::kF64), HasSubstr("values=[1 2] @tile-for-threads/matmul/fetch"));
  EXPECT_THAT(SketchesOf(DType::kF32), HasSubstr("values=[1 2 4] @tile-for-threads/matmul/fetch"));
  EXPECT_THAT(SketchesOf(DType::kF16), HasSubstr("values=[1 2 4 8] @tile-for-threads/matmul/fetch"));
}

}  // namespace
}  // namespace kiln
