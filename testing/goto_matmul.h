// Returns a matmul for CPUs that is scheduled by hand in the order of Goto and van de Geijn ("Anatomy of
// High-Performance Matrix Multiplication", 2008): accumulators stay in registers. If `pack`, each panel of B is copied
// inside the outer loop over k, and is stored in strips of nr columns if nr divides N.
#pragma once

#include "absl/strings/str_cat.h"
#include "lang/base/check.h"
#include "testing/matmul.h"
#include "testing/scheduled.h"

namespace kiln {

struct GotoTiles {
  int64_t mc, mr, nc, nr, kc;
};

inline Program GotoMatmul(int64_t M, int64_t N, int64_t K, const GotoTiles& t, bool pack) {
  Schedule s = Scheduled(Matmul(M, N, K));
  const Block matmul = s.GetBlock("matmul");
  const auto loops = s.GetLoops(matmul);
  const auto i = s.Split(loops[0], {kAuto, t.mc / t.mr, t.mr}),
             j = s.Split(loops[1], {kAuto, t.nc / t.nr, t.nr}), k = s.Split(loops[2], {kAuto, t.kc});
  s.Reorder({j[0], k[0], i[0], j[1], i[1], k[1], i[2], j[2]});
  s.Unroll(i[2]);
  s.Vectorize(j[2]);
  const auto out = s.GetLoops(s.AccumulateAt(matmul, i[1]));
  s.Vectorize(out[out.size() - 1]);
  s.Unroll(out[out.size() - 2]);
  if (pack) {
    const Block copy = s.CacheRead(matmul, 1, "global");
    s.ComputeAt(copy, k[0]);
    if (N % t.nr == 0)
      s.TransformLayout(matmul, 1, absl::StrCat("(k, n) -> (n/", t.nr, ", k, n%", t.nr, ")"));
    s.Vectorize(s.Split(s.GetLoops(copy).back(), {kAuto, t.nr})[1]);
  }
  KILN_CHECK(s.ok(), s.status().ToString());
  return s.program();
}

}  // namespace kiln
