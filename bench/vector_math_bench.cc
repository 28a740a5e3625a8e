// Compares functions on f32 vectors (backends/cpu/passes/vector_math.h), exact and with the flag afn, with scalar libm.
// Each iteration runs all three, one after the other, on 1024 elements in vectors of two registers. Counters:
// nanoseconds per element, and the median of how many times longer libm took.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <cmath>
#include <ctime>
#include <numeric>

#include "absl/strings/str_replace.h"
#include "lang/base/check.h"
#include "lang/base/median.h"
#include "testing/compiled/run_program.h"

namespace kiln {
namespace {

constexpr int kCount = 1024, kRepeats = 16;  // so that three arrays fit the L1 cache

struct Function {
  const char *op, *body;
  float least, most;
};

const Function kFunctions[] = {
    {"exp", "%r = math.exp %x FLAGS : TYPE", -40, 40},
    {"log", "%r = math.log %x FLAGS : TYPE", 0.01f, 100},
    {"tanh", "%r = math.tanh %x FLAGS : TYPE", -5, 5},
    {"erf", "%r = math.erf %x FLAGS : TYPE", -3, 3},
    {"sigmoid",
     "%m = arith.negf %x : TYPE\n%e = math.exp %m FLAGS : TYPE\n%d = arith.addf %e, %one : TYPE\n"
     "%r = arith.divf %one, %d : TYPE",
     -10, 10},
    {"rsqrt", "%r = math.rsqrt %x FLAGS : TYPE", 0.01f, 100},
    {"powf", "%r = math.powf %x, %y FLAGS : TYPE", 0.1f, 10},
    {"sin", "%r = math.sin %x FLAGS : TYPE", -50, 50},
    {"cos", "%r = math.cos %x FLAGS : TYPE", -50, 50},
};

Loaded Kernel(const Function& f, int64_t lanes, const char* flags, bool polynomials) {
  const bool vector = lanes > 1;
  const std::string type = vector ? absl::StrCat("vector<", lanes, "xf32>") : "f32";
  const std::string text = absl::StrReplaceAll(absl::StrReplaceAll(R"(
    func.func @f(%px: memref<1024xf32>, %py: memref<1024xf32>, %pz: memref<1024xf32>) {
      %c0 = arith.constant 0 : index
      %n = arith.constant 1024 : index
      %s = arith.constant LANES : index
      %one = arith.constant ONE : TYPE
      %one_more = arith.constant 1 : index
      %repeats = arith.constant REPEATS : index
      scf.for %repeat = %c0 to %repeats step %one_more {
      scf.for %i = %c0 to %n step %s {
        %x = WHERE.load %px[%i] : memref<1024xf32> VECTOR
        %y = WHERE.load %py[%i] : memref<1024xf32> VECTOR
        BODY
        WHERE.store %r, %pz[%i] : memref<1024xf32> VECTOR
      }
      }
      return
    })",
                                                                   {{"BODY", f.body}}),
                                               {{"REPEATS", absl::StrCat(kRepeats)},
                                                {"LANES", absl::StrCat(lanes)},
                                                {"ONE", vector ? "dense<1.0>" : "1.0"},
                                                {"WHERE", vector ? "vector" : "memref"},
                                                {"VECTOR", vector ? absl::StrCat(", ", type) : ""},
                                                {"TYPE", type},
                                                {"FLAGS", flags}});
  auto loaded = Build(text, {.entries = {{.name = "f", .noalias = true}}, .polynomials = polynomials});
  KILN_CHECK(loaded.ok(), loaded.status().ToString());
  return *std::move(loaded);
}

// Returns the processor time of this thread in nanoseconds. Time in which other threads have the core is not in it.
double Now() {
  timespec now;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) * 1e9 + static_cast<double>(now.tv_nsec);
}

void VectorMath(benchmark::State& state) {
  const Function& f = kFunctions[state.range(0)];
  state.SetLabel(f.op);
  const int64_t lanes = 2 * Host().vector_bytes / 4;
  const Loaded kernels[] = {Kernel(f, lanes, "", true), Kernel(f, lanes, "fastmath<afn>", true),
                            Kernel(f, 1, "", false)};
  Array<float> x(kCount), y(kCount), z(kCount);
  for (int i = 0; i < kCount; ++i) {
    x[i] = f.least + (f.most - f.least) * static_cast<float>(i * 2654435761u % kCount) / kCount;
    y[i] = -3 + 6 * static_cast<float>(i * 40503u % kCount) / kCount;
  }
  std::vector<double> times[3], ratios[2];
  for (auto _ : state) {
    double took[3];
    for (int k = 0; k < 3; ++k) {
      const double start = Now();
      CallKernel(kernels[k], "f", {x.data(), y.data(), z.data()});
      took[k] = (Now() - start) / (kRepeats * kCount);
      times[k].push_back(took[k]);
    }
    for (int k = 0; k < 2; ++k) ratios[k].push_back(took[2] / took[k]);
  }
  state.counters["ns"] = Median(times[0]);
  state.counters["ns fast"] = Median(times[1]);
  state.counters["ns libm"] = Median(times[2]);
  state.counters["ratio"] = Median(ratios[0]);
  state.counters["ratio fast"] = Median(ratios[1]);
}
BENCHMARK(VectorMath)
    ->DenseRange(0, std::size(kFunctions) - 1)
    ->Iterations(301)
    ->Unit(benchmark::kMicrosecond);

}  // namespace
}  // namespace kiln
