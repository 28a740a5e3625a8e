// Scheduled programs: tiles, vectors, caches and guards, compiled, against plain loops.
#include <gtest/gtest.h>

#include "backends/lower.h"
#include "lang/builder.h"
#include "lang/schedule.h"
#include "tests/backends/run_program.h"

namespace kiln {
namespace {

constexpr auto kF32 = DType::kF32;

class NoChoices : public Chooser {
 public:
  Decision Choose(const Site&) override { return {}; }
  int ChooseStructure(absl::string_view, int) override { return 0; }
};

Program Matmul(int64_t M, int64_t N, int64_t K) {
  Builder b("matmul");
  const Id A = b.Input("A", kF32, {M, K}), B = b.Input("B", kF32, {K, N}), C = b.Output("C", kF32, {M, N});
  const Sum i = b.Iter(0), j = b.Iter(1), k = b.Iter(2);
  b.Reduce("matmul", {{"i", M}, {"j", N}, {"k", K, IterKind::kReduction}}, Monoid::Kind::kSum, {C, {i, j}},
           b.Mul(b.Load(A, {i, k}), b.Load(B, {k, j})));
  return b.Finish();
}

struct Tiles {
  int64_t mc, mr, nc, nr, kc;
};

// Goto's order: a block of B is packed below k0, sums stay in registers.
Program Tiled(int64_t M, int64_t N, int64_t K, Tiles t, bool pack) {
  NoChoices none;
  Schedule s(Matmul(M, N, K), Target(), none);
  const Block matmul = s.GetBlock("matmul");
  const auto loops = s.GetLoops(matmul);
  const std::vector<Loop> i = s.Split(loops[0], {kAuto, t.mc / t.mr, t.mr}), j = s.Split(loops[1], {kAuto, t.nc / t.nr, t.nr}),
                          k = s.Split(loops[2], {kAuto, t.kc});
  s.Reorder({j[0], k[0], i[0], j[1], i[1], k[1], i[2], j[2]});
  s.Unroll(i[2]);
  s.Vectorize(j[2]);
  const Block combine = s.AccumulateAt(matmul, i[1]);
  const auto out = s.GetLoops(combine);
  s.Vectorize(out[out.size() - 1]);
  s.Unroll(out[out.size() - 2]);
  if (pack) {
    const Block copy = s.CacheRead(matmul, 1, "global");
    s.ComputeAt(copy, k[0]);
    if (N % t.nr == 0) s.TransformLayout(matmul, 1, absl::StrCat("(k, n) -> (n/", t.nr, ", k, n%", t.nr, ")"));
    s.Vectorize(s.Split(s.GetLoops(copy).back(), {kAuto, t.nr})[1]);
  }
  EXPECT_TRUE(s.ok()) << s.status();
  return s.program();
}

void CheckMatmul(const Program& program, int M, int N, int K) {
  auto loaded = BuildProgram(program);
  ASSERT_TRUE(loaded.ok()) << loaded.status();
  auto a = Random<float>(M * K, 1), w = Random<float>(K * N, 2);
  Array<float> c(M * N, 99.f);
  EXPECT_EQ(Call(*loaded, "matmul", {a.data(), w.data(), c.data()}), 0);
  for (int y = 0; y < M; ++y) {
    for (int x = 0; x < N; ++x) {
      float sum = 0;
      for (int z = 0; z < K; ++z) sum += a[y * K + z] * w[z * N + x];
      ASSERT_EQ(c[y * N + x], sum) << y << " " << x;
    }
  }
}

TEST(Lower, KeepsATileInRegisters) { CheckMatmul(Tiled(32, 64, 48, {8, 4, 32, 16, 16}, false), 32, 64, 48); }

TEST(Lower, PacksATileOfAnOperand) { CheckMatmul(Tiled(32, 64, 48, {8, 4, 32, 16, 16}, true), 32, 64, 48); }

TEST(Lower, GuardsImperfectTiles) {
  CheckMatmul(Tiled(30, 64, 48, {8, 4, 32, 16, 16}, false), 30, 64, 48);
  CheckMatmul(Tiled(32, 61, 48, {8, 4, 32, 16, 16}, false), 32, 61, 48);
  CheckMatmul(Tiled(32, 64, 45, {8, 4, 32, 16, 16}, false), 32, 64, 45);
  CheckMatmul(Tiled(31, 61, 45, {12, 6, 24, 8, 16}, true), 31, 61, 45);
}

}  // namespace
}  // namespace kiln
