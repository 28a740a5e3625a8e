// Sketches and sites of the modules of the default spaces, one after the other.
#include <gtest/gtest.h>

#include "testing/matmul.h"
#include "tests/support/expect_module.h"

namespace kiln {
namespace {

// T[i, j] = A[i] + 1; C[i, j] = sum_k T[i, k] * B[k, j]; D = max(C, 0).
Program DenseRelu() {
  Builder b("dense");
  const Id x = b.Input("A", DType::kF32, {12, 16}), w = b.Input("B", DType::kF32, {16, 24}),
           y = b.Output("D", DType::kF32, {12, 24}), t = b.Temporary("T", DType::kF32, {12, 16}),
           c = b.Temporary("C", DType::kF32, {12, 24});
  const Sum i = Builder::Iter(0), j = Builder::Iter(1), k = Builder::Iter(2);
  b.Compute("add", {{"i", 12}, {"k", 16}}, {t, {i, j}}, b.Add(b.Load(x, {i, j}), b.Float(DType::kF32, 1)));
  b.Reduce("dense", {{"i", 12}, {"j", 24}, {"k", 16, IterKind::kReduction}}, Monoid::Kind::kSum, {c, {i, j}},
           b.Mul(b.Load(t, {i, k}), b.Load(w, {k, j})));
  b.Compute("relu", {{"i", 12}, {"j", 24}}, {y, {i, j}},
            b.Make(Op::kMax, DType::kF32, b.Load(c, {i, j}), b.Float(DType::kF32, 0)));
  return b.Finish();
}

TEST(MultiLevelTiling, HasItsSketches) {
  ExpectModule("multi_level_tiling", "pin site=read-reuse to=0 | each-block(multi-level-tiling)",
               DenseRelu());
}

TEST(RandomComputeLocation, HasASiteForEachBlockThatStandsAlone) {
  ExpectModule("random_compute_location", "random-compute-location", DenseRelu());
}

TEST(ParallelizeVectorizeUnroll, IsThreeLateSteps) {
  Target target;
  target.cores = 2;
  ExpectModule("parallelize_vectorize_unroll", "parallelize-vectorize-unroll max-unroll=0,16", DenseRelu(),
               target);
}

}  // namespace
}  // namespace kiln
