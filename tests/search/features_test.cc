#include "search/features/features.h"
#include "search/cost/cost_model.h"

#include <gtest/gtest.h>

#include <cmath>
#include <set>

#include "lang/program/builder.h"
#include "testing/matmul.h"
#include "testing/scheduled.h"
#include "tests/support/tensorized.h"

namespace kiln {
namespace {

Target SmallTarget() {
  Target target;
  target.cores = 2;
  target.vector_bytes = 32;
  target.vector_registers = 16;
  return target;
}

// The tiles of a product of 16 x 32 x 8: i is split into 2 x 2 x 4, j into 1 x 2 x 16, and k into 2 x 4. The innermost
// tile has 4 x 16 elements, in 8 vector registers.
const TileFactors kTiles{{2, 2, 4}, {1, 2, 16}, {2, 4}};

class Table {
 public:
  explicit Table(const Program& program) : set_(FeatureExtractor(SmallTarget()).Extract(program)) {}
  int rows() const { return set_.rows(); }
  float operator()(int row, absl::string_view name) const {
    for (int c = 0; c < set_.dim; ++c) {
      if (FeatureNames()[c] == name) return set_.values[row * set_.dim + c];
    }
    ADD_FAILURE() << "no column is called " << name;
    return -1;
  }

 private:
  FeatureSet set_;
};

float Log(double x) { return std::log2(1.0f + static_cast<float>(x)); }

// Checks the features of a tiled matmul, which has two blocks. Row 0 is the product, which sums a tile in registers.
// Row 1 is the block that adds the tile to the result.
TEST(Features, SeeTheRegisterTileOfAMatmul) {
  const Table t(TiledMatmul(Matmul(16, 32, 8), SmallTarget(), kTiles, /*pack=*/false).program());
  ASSERT_EQ(t.rows(), 2);
  EXPECT_EQ(t(0, "float_fma"), Log(16 * 32 * 8));
  EXPECT_EQ(t(0, "nest.instances"), Log(16 * 32 * 8));
  EXPECT_EQ(t(0, "nest.loops"), Log(7));
  EXPECT_EQ(t(0, "nest.innermost_extent"), Log(4));
  EXPECT_EQ(t(0, "nest.innermost_reduces"), 1);
  EXPECT_EQ(t(0, "nest.straight_line"), Log(4 * 2));
  EXPECT_EQ(t(0, "vector.lanes"), Log(16));
  EXPECT_EQ(t(0, "vector.registers"), Log(2));
  EXPECT_EQ(t(0, "tile.accumulators"), Log(8));
  EXPECT_EQ(t(0, "tile.register_need"), (8 + 2 + 1) / 16.0f);
  EXPECT_EQ(t(0, "tile.vector_loads"), Log(2));
  EXPECT_EQ(t(0, "tile.broadcasts"), Log(4));
  EXPECT_EQ(t(0, "tile.loads_per_operation"), 6 / 8.0f);
  EXPECT_EQ(t(0, "tile.stores_per_operation"), 0);
  EXPECT_EQ(t(0, "tile.result_stands"), 1);
  EXPECT_EQ(t(0, "store.register"), 1);
  EXPECT_EQ(t(0, "alloc.bytes"), Log(4 * 16 * 4));
  EXPECT_EQ(t(0, "alloc.allocations"), Log(2 * 1 * 2 * 2 * 2));
  EXPECT_EQ(t(1, "float_add"), Log(16 * 32 * 2));
  EXPECT_EQ(t(1, "store.register"), 0);
  EXPECT_EQ(t(1, "tile.stores_per_operation"), 1);
}

TEST(Features, SeeWhatEachBufferIsTouchedFor) {
  const Table t(TiledMatmul(Matmul(16, 32, 8), SmallTarget(), kTiles, /*pack=*/false).program());
  // Buffer 0 has the accumulators: it is read and written 4096 times, and the loop over k1 (4) reuses it at a distance
  // of one tile.
  EXPECT_EQ(t(0, "buffer0.read"), 1);
  EXPECT_EQ(t(0, "buffer0.write"), 1);
  EXPECT_EQ(t(0, "buffer0.unique_bytes"), Log(4 * 16 * 4));
  EXPECT_EQ(t(0, "buffer0.loop_reuse"), 1);
  EXPECT_EQ(t(0, "buffer0.distance_iterations"), Log(4 * 16));
  EXPECT_EQ(t(0, "buffer0.distance_bytes"), Log(4 * (4 * 16 + 4 + 16)));
  EXPECT_EQ(t(0, "buffer0.reuses"), Log(4));
  // Buffer 1 is A: the unrolled code reads four rows, 32 bytes apart, in two cache lines. All lanes of a vector read
  // the same element.
  EXPECT_EQ(t(0, "buffer1.write"), 0);
  EXPECT_EQ(t(0, "buffer1.bytes"), Log(4096 * 4));
  EXPECT_EQ(t(0, "buffer1.unique_bytes"), Log(16 * 8 * 4));
  EXPECT_EQ(t(0, "buffer1.lines"), Log(4096 / 64 * 2));
  EXPECT_EQ(t(0, "buffer1.unique_lines"), Log(16 * 8 * 4 / 64));
  EXPECT_EQ(t(0, "buffer1.stride"), 0);
  EXPECT_EQ(t(0, "buffer1.reuses"), Log(16));
  EXPECT_EQ(t(0, "buffer1.distance_iterations"), Log(1));
  // Buffer 2 is B: the lanes of a vector read adjacent elements.
  EXPECT_EQ(t(0, "buffer2.stride"), Log(1));
  EXPECT_EQ(t(0, "buffer2.reuses"), Log(4));
  EXPECT_EQ(t(0, "buffer2.distance_iterations"), Log(16));
  EXPECT_EQ(t(0, "buffer3.bytes"), 0);
  // Row 1, the block that adds the tile to C, reads the tile after the product wrote it, in the same iteration of j1.
  EXPECT_EQ(t(1, "buffer1.serial_reuse"), 1);
  EXPECT_EQ(t(1, "buffer1.distance_iterations"), Log(4 * 16));
}

TEST(Features, SeeHowLoopsRun) {
  const Table t(TiledMatmul(Matmul(16, 32, 8), SmallTarget(), kTiles, /*pack=*/false).program());
  EXPECT_EQ(t(0, "parallel.product"), Log(2));
  EXPECT_EQ(t(0, "parallel_chunks"), Log(1));
  EXPECT_EQ(t(0, "parallel_imbalance"), 1);
  EXPECT_EQ(t(0, "vectorized.extent"), Log(16));
  EXPECT_EQ(t(0, "vectorized.spatial"), 1);
  EXPECT_EQ(t(0, "vectorized.reduction"), 0);
  EXPECT_EQ(t(0, "unrolled.product"), Log(4));
  EXPECT_EQ(t(0, "unrolled.inside"), Log(16));
  EXPECT_EQ(t(0, "masked.lanes"), 0);
}

TEST(Features, SeeMasksOfImperfectTiles) {
  Schedule s = Scheduled(Matmul(16, 30, 8), SmallTarget());
  const auto loops = s.GetLoops(s.GetBlock("matmul"));
  const auto j = s.Split(loops[1], {2, 16});
  s.Reorder({j[0], loops[2], j[1]});
  s.Vectorize(j[1]);
  ASSERT_TRUE(s.ok()) << s.status();
  const Table t(s.program());
  EXPECT_EQ(t(0, "masked.lanes"), 1);
  EXPECT_EQ(t(0, "masked.outer"), 1);
  EXPECT_EQ(t(0, "masked.innermost"), 0);
  EXPECT_EQ(t(0, "masked.unrolled"), 0);
}

TEST(Features, SeeLayouts) {
  Builder b("transpose");
  const Id A = b.Input("A", DType::kF32, {64, 32}), B = b.Output("B", DType::kF32, {32, 64});
  b.Compute("transpose", {{"i", 32}, {"j", 64}}, {B, {b.Iter(0), b.Iter(1)}},
            b.Load(A, {b.Iter(1), b.Iter(0)}));
  Program p = b.Finish();
  EXPECT_EQ(Table(p)(0, "access.contiguous"), 0.5f);
  EXPECT_EQ(Table(p)(0, "buffer1.stride"), Log(32));
  p.buffers[A].layout.axes = p.AddList({p.AddMark(b.Iter(1), 32), p.AddMark(b.Iter(0), 64)});
  EXPECT_EQ(Table(p)(0, "access.contiguous"), 1);
  EXPECT_EQ(Table(p)(0, "buffer1.stride"), Log(1));
}

TEST(Features, CountOperationsByKind) {
  Builder b("kinds");
  const Id A = b.Input("A", DType::kF32, {8}), B = b.Output("B", DType::kF32, {8});
  const Id a = b.Load(A, {b.Iter(0)}), one = b.Float(DType::kF32, 1);
  const Id e = b.Make(Op::kExp, DType::kF32, b.Make(Op::kNeg, DType::kF32, a));
  b.Compute("sigmoid", {{"i", 8}}, {B, {b.Iter(0)}}, b.Make(Op::kDiv, DType::kF32, one, b.Add(one, e)));
  const Table t(b.Finish());
  EXPECT_EQ(t(0, "float_special"), Log(8));
  EXPECT_EQ(t(0, "float_other"), Log(8));
  EXPECT_EQ(t(0, "float_div"), Log(8));
  EXPECT_EQ(t(0, "float_add"), Log(8));
  EXPECT_EQ(t(0, "float_mul"), 0);
}

// The features count a call of vnni.8x4 as one vector operation of 8 lanes, in which each lane adds four products of
// bytes. They count no multiplications and casts of bytes. All that the operation reads of B is one vector load.
TEST(Features, SeeACallAsOneOperation) {
  const CpuInstruction& row = RowOf("vnni.8x4");
  const Program p = TiledRows(Product(row, 8), FamilyOf(row), 4);
  const Table t(p);
  EXPECT_EQ(t(0, "float_fma"), Log(8 * 16 * 12 / 4.0));
  EXPECT_EQ(t(0, "int_mul"), 0);
  EXPECT_EQ(t(0, "cast"), 0);
  EXPECT_EQ(t(0, "tile.accumulators"), Log(4));
  EXPECT_EQ(t(0, "tile.broadcasts"), Log(4));
}

TEST(Features, DoNotDependOnNamesNorOnWhatWasReadBefore) {
  const TiledMatmul plain(Matmul(64, 64, 64), SmallTarget(), {{4, 4, 4}, {2, 2, 16}, {4, 16}}, true);
  const TiledMatmul renamed(Matmul(64, 64, 64, "z_"), SmallTarget(), {{4, 4, 4}, {2, 2, 16}, {4, 16}}, true,
                            "z_");
  FeatureExtractor fresh(SmallTarget()), used(SmallTarget());
  used.Extract(TiledMatmul(Matmul(16, 32, 8), SmallTarget(), kTiles, false).program());
  EXPECT_EQ(fresh.Extract(plain.program()).values, used.Extract(renamed.program()).values);
}

// A block in the prepare phase has no features: the phase runs once per set of constants and is not measured.
TEST(Features, LeaveOutWhatIsPrepared) {
  Builder b("scaled");
  const Id w = b.Constant("W", DType::kF32, {8}), x = b.Input("X", DType::kF32, {8}),
           y = b.Output("Y", DType::kF32, {8}), square = b.Temporary("S", DType::kF32, {8});
  const IndexSum i = Builder::Iter(0);
  b.Compute("square", {{"i", 8}}, {square, {i}}, b.Mul(b.Load(w, {i}), b.Load(w, {i})));
  b.Compute("scale", {{"i", 8}}, {y, {i}}, b.Mul(b.Load(x, {i}), b.Load(square, {i})));
  Schedule s = Scheduled(b.Finish());
  EXPECT_EQ(Table(s.program()).rows(), 2);
  s.Prepare(s.GetBlock("square"));
  ASSERT_TRUE(s.ok()) << s.status();
  EXPECT_EQ(Table(s.program()).rows(), 1);
}

TEST(Features, AreFiniteNamedOnceAndAcceptedByTheCostModel) {
  EXPECT_EQ(static_cast<int>(FeatureNames().size()), FeatureDim());
  EXPECT_EQ(std::set<std::string>(FeatureNames().begin(), FeatureNames().end()).size(),
            FeatureNames().size());
  const TiledMatmul m(Matmul(64, 64, 64), SmallTarget(), {{4, 4, 4}, {2, 2, 16}, {4, 16}}, true);
  LoopNestSummary nests;
  nests.Read(m.program());
  FeatureBatch batch;
  FeatureExtractor extractor(SmallTarget());
  extractor.Append(nests, batch);
  extractor.Append(nests, batch);
  EXPECT_EQ(batch.programs(), 2);
  EXPECT_EQ(batch.rows(), 6);
  EXPECT_TRUE(CheckFeatures(batch, FeatureDim()).ok());
}

}  // namespace
}  // namespace kiln
