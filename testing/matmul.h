// The program C[i, j] += A[i, k] * B[k, j], and a schedule of it for CPUs: tiled, vectorized, with
// accumulators.
#pragma once

#include <array>

#include "lang/base/check.h"
#include "lang/program/builder.h"
#include "lang/schedule/schedule.h"

namespace kiln {

inline Program Matmul(int64_t m, int64_t n, int64_t k, const char* prefix = "") {
  Builder b("matmul");
  const std::string p = prefix;
  const Id A = b.Input(p + "A", DType::kF32, {m, k}), B = b.Input(p + "B", DType::kF32, {k, n});
  const Id C = b.Output(p + "C", DType::kF32, {m, n});
  const IndexSum i = b.Iter(0), j = b.Iter(1), l = b.Iter(2);
  b.Reduce(p + "matmul", {{p + "i", m}, {p + "j", n}, {p + "k", k, IterKind::kReduction}}, Monoid::Kind::kSum,
           {C, {i, j}}, b.Mul(b.Load(A, {i, l}), b.Load(B, {l, j})));
  return b.Finish();
}

// The factors by which TiledMatmul splits the loops: i into i0 i1 i2, j into j0 j1 j2, and k into k0 k1.
struct TileFactors {
  std::array<int64_t, 3> i, j;
  std::array<int64_t, 2> k;
};

// A schedule of Matmul with the loops i0 j0 k0 i1 j1 k1 i2 j2: i0 is parallel, i2 unrolled and j2 vectorized. Sums are
// in registers below j1. If `pack`, B is copied to the stack below k0.
struct TiledMatmul {
  TiledMatmul(Program program, const Target& target, const TileFactors& t, bool pack, const char* prefix = "")
      : chooser(dice), s(std::move(program), target, chooser) {
    matmul = s.GetBlock(std::string(prefix) + "matmul");
    const auto loops = s.GetLoops(matmul);
    const auto i = s.Split(loops[0], {t.i[0], t.i[1], t.i[2]}),
               j = s.Split(loops[1], {t.j[0], t.j[1], t.j[2]});
    const auto k = s.Split(loops[2], {t.k[0], t.k[1]});
    s.Reorder({i[0], j[0], k[0], i[1], j[1], k[1], i[2], j[2]});
    s.Parallel(i[0]);
    if (pack) {
      copy = s.CacheRead(matmul, 1, "stack");
      s.ComputeAt(copy, k[0]);
      s.Vectorize(s.GetLoops(copy).back());
    }
    combine = s.AccumulateAt(matmul, j[1]);
    const auto out = s.GetLoops(combine);
    if (s.ok()) {
      s.Unroll(out[out.size() - 2]);
      s.Vectorize(out.back());
    }
    s.Unroll(i[2]);
    s.Vectorize(j[2]);
    KILN_CHECK(s.ok(), s.status().ToString());
  }
  const Program& program() const { return s.program(); }

  RandomDice dice{Engine({1})};
  RandomChooser chooser;
  Schedule s;
  Block matmul, copy, combine;
};

}  // namespace kiln
