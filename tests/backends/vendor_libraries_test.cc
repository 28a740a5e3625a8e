// Tests AsLibraryProduct, which recognizes programs that are an f32 matrix product, as cblas_sgemm computes it, with
// sizes and transpositions; and where vendor libraries are looked for.
#include "backends/vendor/vendor_libraries.h"

#include <gmock/gmock.h>

#include "tests/backends/workers.h"

namespace kiln {
namespace {

// Returns the program C sum= A * B over iters i < 3, j < 5 and l < 7. The lists give the two iters that index C, A and
// B (0: i, 1: j, 2: l).
Program Product(std::vector<int> c, std::vector<int> a, std::vector<int> b, DType dtype = DType::kF32) {
  Builder builder("product");
  const int64_t extents[] = {3, 5, 7};
  const auto dims = [&](const std::vector<int>& iters) {
    return std::vector<Extent>{extents[iters[0]], extents[iters[1]]};
  };
  const auto index = [&](const std::vector<int>& iters) {
    return std::vector<IndexSum>{builder.Iter(iters[0]), builder.Iter(iters[1])};
  };
  const Id A = builder.Input("A", dtype, dims(a)), B = builder.Input("B", dtype, dims(b));
  const Id C = builder.Output("C", dtype, dims(c));
  builder.Reduce("product", {{"i", 3}, {"j", 5}, {"l", 7, IterKind::kReduction}}, Monoid::Kind::kSum,
                 {C, index(c)}, builder.Mul(builder.Load(A, index(a)), builder.Load(B, index(b))));
  return builder.Finish();
}

TEST(VendorLibraries, AProductOfMatricesIsFoundWithItsSizes) {
  const auto found = AsLibraryProduct(Product({0, 1}, {0, 2}, {2, 1}));
  ASSERT_TRUE(found);
  EXPECT_EQ(found->m, 3);
  EXPECT_EQ(found->n, 5);
  EXPECT_EQ(found->k, 7);
  EXPECT_FALSE(found->a_transposed);
  EXPECT_FALSE(found->b_transposed);
  EXPECT_EQ(found->a, 0);
  EXPECT_EQ(found->b, 1);
  EXPECT_EQ(found->c, 2);
}

TEST(VendorLibraries, FactorsMayBeTransposed) {
  const auto a = AsLibraryProduct(Product({0, 1}, {2, 0}, {2, 1}));
  ASSERT_TRUE(a);
  EXPECT_TRUE(a->a_transposed);
  EXPECT_FALSE(a->b_transposed);
  const auto b = AsLibraryProduct(Product({0, 1}, {0, 2}, {1, 2}));
  ASSERT_TRUE(b);
  EXPECT_FALSE(b->a_transposed);
  EXPECT_TRUE(b->b_transposed);
}

// Recognizes C[j, i] sum= A[i, l] * B[l, j] as the product of B transposed and A transposed: the factors change places,
// and m is 5.
TEST(VendorLibraries, ATransposedResultIsAProductOfTheFactorsTurnedAround) {
  const auto found = AsLibraryProduct(Product({1, 0}, {0, 2}, {2, 1}));
  ASSERT_TRUE(found);
  EXPECT_EQ(found->m, 5);
  EXPECT_EQ(found->n, 3);
  EXPECT_EQ(found->a, 1);
  EXPECT_EQ(found->b, 0);
  EXPECT_TRUE(found->a_transposed);
  EXPECT_TRUE(found->b_transposed);
}

TEST(VendorLibraries, OtherProgramsHaveNone) {
  EXPECT_FALSE(AsLibraryProduct(Affine(64)));
  EXPECT_FALSE(AsLibraryProduct(Product({0, 1}, {0, 2}, {2, 1}, DType::kF64)));
  EXPECT_FALSE(AsLibraryProduct(Product({0, 1}, {0, 2}, {0, 2})));
  EXPECT_TRUE(VendorLibrariesOf(Affine(64), {"/anywhere"}).empty());
}

TEST(VendorLibraries, AreLookedForInFoldersFirst) {
  const std::vector<VendorLibrary> peers = VendorLibrariesOf(Matmul(8, 8, 8), {"/here", "/there"});
  ASSERT_EQ(peers.size(), 4);
  EXPECT_EQ(peers[1].name, "openblas");
  EXPECT_THAT(
      peers[1].kernel.product->libraries,
      testing::ElementsAre("/here/libopenblas.so.0", "/here/libopenblas.so", "/there/libopenblas.so.0",
                           "/there/libopenblas.so", "libopenblas.so.0", "libopenblas.so"));
}

}  // namespace
}  // namespace kiln
