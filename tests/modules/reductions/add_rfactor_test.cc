// Tests that matrix-vector products compute the same results after add-rfactor and the modules that follow it, under
// random decisions. tests/modules/cases_test.cc compares the sketches themselves with the text in cases/reductions.
#include <gtest/gtest.h>

#include "testing/matmul.h"
#include "testing/module_cases.h"

namespace kiln {
namespace {

Program MatrixTimesVector(int64_t rows, int64_t columns) {
  Builder b("matvec");
  const Id a = b.Input("A", DType::kF32, {rows, columns}), x = b.Input("x", DType::kF32, {columns}),
           y = b.Output("y", DType::kF32, {rows});
  const IndexSum i = Builder::Iter(0), k = Builder::Iter(1);
  b.Reduce("matvec", {{"i", rows}, {"k", columns, IterKind::kReduction}}, Monoid::Kind::kSum, {y, {i}},
           b.Mul(b.Load(a, {i, k}), b.Load(x, {k})));
  return b.Finish();
}

Target Cores(int cores) {
  Target target;
  target.cores = cores;
  return target;
}

TEST(AddRfactor, ComputesTheSameBeforeTheOtherModules) {
  constexpr char kSpace[] =
      "each-block(auto-inline | add-rfactor | multi-level-tiling) | random-compute-location | "
      "vectorize-rows | parallelize-vectorize-unroll";
  ExpectSketchesCompute(kSpace, MatrixTimesVector(20, 64), Cores(2));
  ExpectSketchesCompute(kSpace, MatrixTimesVector(7, 61), Cores(4));
}

}  // namespace
}  // namespace kiln
