// What lowering makes of a matmul scheduled by hand, 512^3 in f32 on one thread, beside the machine's FMA
// peak, measured in turns: `bench/lowered_matmul_bench`. Counters: GFLOP/s of the kernel, of the peak, and
// their ratio (best of each).
#include <benchmark/benchmark.h>

#include <algorithm>
#include <ctime>

#include "bench/fma_probe.h"
#include "lang/check.h"
#include "tests/backends/run_program.h"
#include "tests/support/goto_matmul.h"

namespace kiln {
namespace {

// Of this thread's processor time: other work on the machine does not count.
double Now() {
  timespec now;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

void Matmul512(benchmark::State& state) {
  const int64_t n = 512;
  const Program program = GotoMatmul(
      n, n, n, {state.range(0), state.range(1), state.range(2), state.range(3), state.range(4)}, true);
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
    CallKernel(*loaded, "matmul", {a.data(), b.data(), c.data()});
    best = std::min(best, Now() - start);
    state.PauseTiming();
    const double probe_start = Now();
    CallKernel(*peak_kernel, "probe", {registers.data()});
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
