// Calls of intrinsics, compiled by their descriptions, against plain loops.
#include <gtest/gtest.h>

#include "lang/builder.h"
#include "lang/intrinsic.h"
#include "tests/backends/run_program.h"
#include "tests/support/scheduled.h"
#include "tests/support/tiled_matmul.h"

namespace kiln {
namespace {

// C[i, j] sum= widened A[i, k] * widened B[j, k], a multiple of the family's tile each way.
Program Product(const IntrinsicFamily& family, DType a, DType c, bool unsigned_a) {
  Builder b("product");
  const int64_t m = 2 * family.m, n = 2 * family.n, k = 3 * family.k;
  const Id A = b.Input("A", a, {m, k}), B = b.Input("B", a, {n, k}), C = b.Output("C", c, {m, n});
  const Sum i = b.Iter(0), j = b.Iter(1), l = b.Iter(2);
  const Id left = b.Make(unsigned_a ? Op::kCastUnsigned : Op::kCast, c, b.Load(A, {i, l}));
  b.Reduce("product", {{"i", m}, {"j", n}, {"k", k, IterKind::kReduction}}, Monoid::Kind::kSum, {C, {i, j}},
           b.Mul(left, b.Cast(c, b.Load(B, {j, l}))));
  return b.Finish();
}

Program Tensorized(Program program, const std::string& block, const IntrinsicFamily& unit) {
  Schedule s = Scheduled(std::move(program));
  const Block product = s.GetBlock(block);
  const auto [m, n, k] = s.Einsum(product, {unit.m, unit.n, unit.k});
  const auto [mo, mi] = s.Split(m, {Factor(kAuto), Factor(unit.m)});
  const auto [no, ni] = s.Split(n, {Factor(kAuto), Factor(unit.n)});
  const auto [ko, ki] = s.Split(k, {Factor(kAuto), Factor(unit.k)});
  s.Reorder({mo, no, ko, mi, ni, ki});
  if (unit.result == Storage::kRegister) {
    const Block combine = s.AccumulateAt(product, no);
    const auto loops = s.GetLoops(combine);
    s.Unroll(loops[loops.size() - 2]);
    s.Vectorize(loops.back());
  }
  s.Tensorize(mi, unit.compute);
  EXPECT_TRUE(s.ok()) << s.status();
  return s.program();
}

// Of any target.
IntrinsicFamily FamilyOf(const std::string& name, int64_t m, int64_t n, int64_t k) {
  return {name, m, n, k, name + ".compute"};
}

TEST(LowerTensorize, BytesAndInt8MultiplyAsVnniDoes) {
  const IntrinsicFamily unit = FamilyOf("vnni.8x4", 1, 8, 4);
  const Program p = Tensorized(Product(unit, DType::kI8, DType::kI32, true), "product", unit);
  auto loaded = BuildProgram(p);
  ASSERT_TRUE(loaded.ok()) << loaded.status();
  auto a = Random<uint8_t>(2 * 12, 1, 0, 255);
  auto b = Random<int8_t>(16 * 12, 2, -128, 127);
  Array<int32_t> c(2 * 16, 99);
  ASSERT_EQ(CallKernel(*loaded, "product", {a.data(), b.data(), c.data()}), 0);
  for (int i = 0; i < 2; ++i) {
    for (int j = 0; j < 16; ++j) {
      int32_t sum = 0;
      for (int k = 0; k < 12; ++k) sum += a[i * 12 + k] * b[j * 12 + k];
      ASSERT_EQ(c[i * 16 + j], sum) << i << " " << j;
    }
  }
}

TEST(LowerTensorize, PairsOfBf16AreMultipliedAndAdded) {
  const IntrinsicFamily unit = FamilyOf("bf16.16x2", 1, 16, 2);
  const Program p = Tensorized(Product(unit, DType::kBF16, DType::kF32, false), "product", unit);
  auto loaded = BuildProgram(p);
  ASSERT_TRUE(loaded.ok()) << loaded.status();
  const auto bf16 = [](float value) {
    uint32_t bits;
    std::memcpy(&bits, &value, sizeof bits);
    return static_cast<uint16_t>(bits >> 16);
  };
  auto x = Random<float>(2 * 6, 1), y = Random<float>(32 * 6, 2);
  Array<uint16_t> a(2 * 6), b(32 * 6);
  for (size_t i = 0; i < x.size(); ++i) a[i] = bf16(x[i]);
  for (size_t i = 0; i < y.size(); ++i) b[i] = bf16(y[i]);
  Array<float> c(2 * 32, 99.f);
  ASSERT_EQ(CallKernel(*loaded, "product", {a.data(), b.data(), c.data()}), 0);
  for (int i = 0; i < 2; ++i) {
    for (int j = 0; j < 32; ++j) {
      float sum = 0;
      for (int k = 0; k < 6; ++k) sum += x[i * 6 + k] * y[j * 6 + k];
      ASSERT_EQ(c[i * 32 + j], sum) << i << " " << j;
    }
  }
}

TEST(LowerTensorize, FusedMultiplyAddsAccumulateInRegisters) {
  const Target target;
  const IntrinsicFamily& unit = *target.matrix_intrinsics()[0];
  ASSERT_EQ(unit.name, "fma.6x16");
  for (const auto& [m, n, k] : {std::array{12, 32, 8}, {7, 17, 5}}) {
    auto loaded = BuildProgram(Tensorized(Matmul(m, n, k), "matmul", unit));
    ASSERT_TRUE(loaded.ok()) << loaded.status();
    auto a = Random<float>(m * k, 1), b = Random<float>(k * n, 2);
    Array<float> c(m * n, 99.f);
    ASSERT_EQ(CallKernel(*loaded, "matmul", {a.data(), b.data(), c.data()}), 0);
    for (int i = 0; i < m; ++i) {
      for (int j = 0; j < n; ++j) {
        float sum = 0;
        for (int l = 0; l < k; ++l) sum += a[i * k + l] * b[l * n + j];
        ASSERT_EQ(c[i * n + j], sum) << i << " " << j;
      }
    }
  }
}

}  // namespace
}  // namespace kiln
