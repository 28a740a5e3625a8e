// What lowering makes of a matmul scheduled by hand, 512^3 in f32 on one thread, beside the machine's FMA
// peak, measured in turns: `bench/lowered_matmul_bench`. Counters: GFLOP/s of the kernel, of the peak, and
// their ratio (best of each).
#include <benchmark/benchmark.h>

#include <algorithm>
#include <ctime>

#include "absl/strings/str_cat.h"
#include "bench/fma_probe.h"
#include "lang/builder.h"
#include "lang/check.h"
#include "lang/schedule.h"
#include "tests/backends/run_program.h"

namespace kiln {
namespace {

class NoChoices : public Chooser {
 public:
  Decision Choose(const Site&) override { return {}; }
  int ChooseStructure(absl::string_view, int) override { return 0; }
};

struct Tiles {
  int64_t mc, mr, nc, nr, kc;
};

Program TiledMatmul(int64_t size, Tiles t) {
  Builder b("matmul");
  const Id A = b.Input("A", DType::kF32, {size, size}), B = b.Input("B", DType::kF32, {size, size});
  const Id C = b.Output("C", DType::kF32, {size, size});
  b.Reduce("matmul", {{"i", size}, {"j", size}, {"k", size, IterKind::kReduction}}, Monoid::Kind::kSum,
           {C, {b.Iter(0), b.Iter(1)}},
           b.Mul(b.Load(A, {b.Iter(0), b.Iter(2)}), b.Load(B, {b.Iter(2), b.Iter(1)})));
  NoChoices none;
  Schedule s(b.Finish(), Target(), none);
  const Block matmul = s.GetBlock("matmul");
  const auto loops = s.GetLoops(matmul);
  const auto i = s.Split(loops[0], {kAuto, t.mc / t.mr, t.mr}),
             j = s.Split(loops[1], {kAuto, t.nc / t.nr, t.nr});
  const auto k = s.Split(loops[2], {kAuto, t.kc});
  s.Reorder({j[0], k[0], i[0], j[1], i[1], k[1], i[2], j[2]});
  s.Unroll(i[2]);
  s.Vectorize(j[2]);
  const auto out = s.GetLoops(s.AccumulateAt(matmul, i[1]));
  s.Vectorize(out[out.size() - 1]);
  s.Unroll(out[out.size() - 2]);
  const Block copy = s.CacheRead(matmul, 1, "global");
  s.ComputeAt(copy, k[0]);
  s.TransformLayout(matmul, 1, absl::StrCat("(k, n) -> (n/", t.nr, ", k, n%", t.nr, ")"));
  s.Vectorize(s.Split(s.GetLoops(copy).back(), {kAuto, t.nr})[1]);
  KILN_CHECK(s.ok(), s.status().ToString());
  return s.program();
}

// Of this thread's processor time: other work on the machine does not count.
double Now() {
  timespec now;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

void Matmul512(benchmark::State& state) {
  const int64_t n = 512;
  const Program program =
      TiledMatmul(n, {state.range(0), state.range(1), state.range(2), state.range(3), state.range(4)});
  const auto loaded = BuildProgram(program);
  KILN_CHECK(loaded.ok(), loaded.status().ToString());
  auto a = Random<float>(n * n, 1), b = Random<float>(n * n, 2);
  Array<float> c(n * n);
  const FmaProbe probe = MakeFmaProbe().value();
  const auto peak_kernel = Loaded::FromBytes(probe.kernel.shared_object);
  KILN_CHECK(peak_kernel.ok(), peak_kernel.status().ToString());
  Array<float> registers(static_cast<size_t>(probe.kernel.params[0].elements));
  double best = 1e9, best_probe = 1e9;
  for (auto _ : state) {
    const double start = Now();
    Call(*loaded, "matmul", {a.data(), b.data(), c.data()});
    best = std::min(best, Now() - start);
    state.PauseTiming();
    const double probe_start = Now();
    Call(*peak_kernel, "probe", {registers.data()});
    best_probe = std::min(best_probe, Now() - probe_start);
    state.ResumeTiming();
  }
  const double gflops = 2e-9 * n * n * n / best, peak = 1e-9 * probe.flops / best_probe;
  state.counters["GFLOP/s"] = gflops;
  state.counters["peak"] = peak;
  state.counters["ratio"] = gflops / peak;
}
// mc, mr, nc, nr, kc
BENCHMARK(Matmul512)
    ->Args({64, 4, 512, 16, 256})
    ->Args({128, 4, 64, 16, 512})
    ->Args({128, 4, 128, 16, 256})
    ->Args({66, 6, 512, 16, 256})
    ->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace kiln
