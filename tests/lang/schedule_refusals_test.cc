#include "lang/analysis/placement.h"

#include <gtest/gtest.h>

#include "lang/builder.h"

namespace kiln {
namespace {

TEST(ComputeAt, RefusesToMakeInitialValuesBelowTheReduction) {
  // B[i] = x[i] + 1;  y[i] = B[i] + Σ_k A[i, k]
  Builder b("sums");
  const Id a = b.Input("A", DType::kF32, {8, 4}), x = b.Input("x", DType::kF32, {8}),
           y = b.Output("y", DType::kF32, {8});
  const Id start = b.Temporary("B", DType::kF32, {8});
  const Sum i = Builder::Iter(0), k = Builder::Iter(1);
  const Id add = b.Compute("add", {{"i", 8}}, {start, {i}}, b.Add(b.Load(x, {i}), b.Float(DType::kF32, 1)));
  const Id sum = b.Reduce("sum", {{"i", 8}, {"k", 4, IterKind::kReduction}}, Monoid::Kind::kSum, {y, {i}},
                          b.Load(a, {i, k}), b.Load(start, {i}));
  const Program p = b.Finish();
  const Id k_loop = p.nodes[sum].parent, i_loop = p.nodes[k_loop].parent;
  EXPECT_TRUE(CheckComputeAt(p, add, i_loop).ok());
  EXPECT_EQ(CheckComputeAt(p, add, k_loop).message(), "block \"sum\" starts from it, before loop k");
}

}  // namespace
}  // namespace kiln
