// Measures how long candidates take to compile, and how much slower code the short LLVM pipeline gives than
// -O3:
//
//   compile_bench [--traces 500] [--rounds 5] [--seed 0] [--slowest 0] [--o3] [--results FILE] [--commit ID]
//
// Random traces of the default space over eight operators are lowered, compiled and linked in this process, all of them
// in each round. Times are CPU milliseconds of the thread. The smallest time of a trace counts, because a shared host
// slows a core down for seconds at a time. Prints and appends as a line of JSON: the median, the 95th percentile and
// the maximum, of all traces and by operator, the mean of each stage, and each round's median; and the time of a
// trivial module that multiplies two numbers, which bounds what sharing a module could save per candidate. --slowest N:
// prints the N slowest traces with their stages and code size. --o3: times each operator's traces and runs the fastest
// tenth in turns with the same program compiled by LLVM -O3. Prints the geometric mean of (ours / -O3's), from medians
// of 21 pairs, and the ratios with their seeds.
#include <time.h>

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "absl/strings/str_cat.h"
#include "backends/builder/compile.h"
#include "backends/codegen/context.h"
#include "backends/cpu/targets.h"
#include "backends/measure/kernel.h"
#include "backends/vendor/paired_timing.h"
#include "bench/random_candidates.h"
#include "bench/support/command_line.h"
#include "bench/support/json_results.h"
#include "build_info.h"
#include "lang/text/text.h"
#include "testing/matmul.h"

namespace kiln {
namespace {

struct Options {
  int traces = 500, rounds = 5, slowest = 0;
  uint64_t seed = 0;
  bool o3 = false;
  std::string results = "bench/results/compile.json", commit;
};

// Returns the CPU time that this thread has used, in milliseconds.
double Now() {
  timespec now;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) * 1e3 + static_cast<double>(now.tv_nsec) * 1e-6;
}

struct Compiled {
  double lower = 0, link = 0, total = 0;
  StageTimes stages;
  size_t bytes = 0;
  BuildResult built;
};

absl::StatusOr<Compiled> Compile(Program program, CodegenOptions::Pipeline pipeline) {
  static Codegen& codegen = *Codegen::Create(Host())->release();
  program.name = "kernel";
  Compiled compiled;
  const double start = Now();
  auto module = Lower(program, Context(), LoweringFor(Host()));
  if (!module.ok()) return module.status();
  compiled.lower = Now() - start;
  CodegenOptions options = CodegenFor(program);
  options.pipeline = pipeline;
  auto object = codegen.Compile(**module, options);
  if (!object.ok()) return object.status();
  compiled.stages = object->times;
  compiled.bytes = object->bytes.size();
  const double linking = Now();
  auto shared = LinkKernel(program, *object);
  if (!shared.ok()) return shared.status();
  compiled.link = Now() - linking;
  compiled.total = Now() - start;
  compiled.built.outputs = {*std::move(shared)};
  compiled.built.takes_threads = object->takes_threads;
  return compiled;
}

// Times kernels in turns; returns the median seconds of each.
absl::StatusOr<std::vector<double>> Time(const std::vector<KernelObject>& kernels, int runs) {
  RunRequest request;
  request.kernel = kernels.front();
  request.peers.assign(kernels.begin() + 1, kernels.end());
  request.timing.runs = runs;
  request.limits.seconds = 120;
  const auto ran = RunAlone(std::move(request));
  if (!ran.ok()) return ran.status();
  std::vector<double> medians{MedianOf(ran->seconds).median};
  for (const auto& peer : ran->peer_seconds) medians.push_back(MedianOf(peer).median);
  return medians;
}

KernelObject KernelOfCompiled(const Program& program, const Compiled& compiled) {
  size_t outputs = 0;
  for (const Id id : program.parameters) outputs += program.buffers[id].role == Role::kOutput;
  return KernelOf(program, compiled.built, "kernel", std::vector<Tolerance>(outputs));
}

struct Trace {
  std::string name;
  uint64_t seed;
  Program program;
  std::optional<Compiled> least;
};

// Times the traces, and races the fastest tenth with the same programs compiled by LLVM -O3. Prints both times and
// appends log(seconds of ours / seconds with -O3).
absl::Status CompareWithO3(absl::Span<const Trace> traces, std::vector<double>* logs) {
  std::vector<std::pair<double, const Trace*>> order;
  for (const Trace& trace : traces) {
    const auto seconds = Time({KernelOfCompiled(trace.program, *trace.least)}, 3);
    if (seconds.ok()) order.emplace_back(seconds->front(), &trace);
  }
  std::sort(order.begin(), order.end());
  order.resize((order.size() + 9) / 10);
  for (const auto& [seconds, trace] : order) {
    const Program& program = trace->program;
    const auto full = Compile(program, CodegenOptions::Pipeline::kO3);
    if (!full.ok()) return full.status();
    const auto pair = Time({KernelOfCompiled(program, *trace->least), KernelOfCompiled(program, *full)}, 21);
    if (!pair.ok()) return pair.status();
    logs->push_back(std::log((*pair)[0] / (*pair)[1]));
    std::printf("%s %d: %.4f ms, -O3 %.4f ms: %.3f\n", trace->name.c_str(), static_cast<int>(trace->seed),
                1e3 * (*pair)[0], 1e3 * (*pair)[1], (*pair)[0] / (*pair)[1]);
  }
  return absl::OkStatus();
}

// Returns the median, the 95th percentile and the maximum.
Json Percentiles(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return {values[values.size() / 2], values[values.size() * 95 / 100], values.back()};
}

Json MeansOfStages(const std::vector<Trace>& all) {
  Json means;
  const auto mean = [&](const char* stage, auto of) {
    double sum = 0;
    for (const Trace& trace : all) sum += of(*trace.least);
    means[stage] = sum / static_cast<double>(all.size());
  };
  mean("lower", [](const Compiled& c) { return c.lower; });
  mean("verify", [](const Compiled& c) { return c.stages.verify; });
  mean("math", [](const Compiled& c) { return c.stages.math; });
  mean("convert", [](const Compiled& c) { return c.stages.convert; });
  mean("translate", [](const Compiled& c) { return c.stages.translate; });
  mean("optimize", [](const Compiled& c) { return c.stages.optimize; });
  mean("emit", [](const Compiled& c) { return c.stages.emit; });
  mean("link", [](const Compiled& c) { return c.link; });
  return means;
}

void PrintLast(const std::vector<Trace>& all, size_t count) {
  for (size_t i = 0; i < std::min(count, all.size()); ++i) {
    const Trace& trace = all[all.size() - 1 - i];
    const Compiled& c = *trace.least;
    std::printf("%s %.1f ms (lower %.1f, convert %.1f, optimize %.1f, emit %.1f), %zu bytes\n%s\n",
                trace.name.c_str(), c.total, c.lower, c.stages.convert, c.stages.optimize, c.stages.emit,
                c.bytes, ToString(trace.program).c_str());
  }
}

absl::StatusOr<Json> Measure(const Options& o) {
  const int each = (o.traces + 7) / 8;
  std::vector<Trace> all;
  for (const char* name : kEightOperators) {
    RandomCandidates candidates(name, CpuTarget());
    for (uint64_t seed = o.seed; seed < o.seed + static_cast<uint64_t>(each); ++seed)
      all.push_back({name, seed, candidates.Draw(seed).replayed.program(), {}});
  }
  (void)Compile(all.front().program, CodegenOptions::Pipeline::kMinimal);
  Json of_rounds;
  for (int round = 0; round < o.rounds; ++round) {
    std::vector<double> totals;
    for (Trace& trace : all) {
      auto compiled = Compile(trace.program, CodegenOptions::Pipeline::kMinimal);
      if (!compiled.ok()) return compiled.status();
      totals.push_back(compiled->total);
      if (!trace.least || compiled->total < trace.least->total) trace.least = *std::move(compiled);
    }
    of_rounds.push_back(Percentiles(totals)[0]);
  }
  const Program smallest = Matmul(1, 1, 1);
  double module_ms = HUGE_VAL;
  for (int i = 0; i < 100 * o.rounds; ++i) {
    const auto compiled = Compile(smallest, CodegenOptions::Pipeline::kMinimal);
    if (!compiled.ok()) return compiled.status();
    module_ms = std::min(module_ms, compiled->total);
  }
  std::vector<double> logs;
  Json of_operators;
  for (size_t first = 0; first < all.size(); first += static_cast<size_t>(each)) {
    const auto of_name = absl::MakeSpan(all).subspan(first, static_cast<size_t>(each));
    std::vector<double> totals;
    for (const Trace& trace : of_name) totals.push_back(trace.least->total);
    of_operators[of_name.front().name] = Percentiles(totals);
    if (!o.o3) continue;
    if (const absl::Status status = CompareWithO3(of_name, &logs); !status.ok()) return status;
  }
  std::sort(all.begin(), all.end(),
            [](const Trace& a, const Trace& b) { return a.least->total < b.least->total; });
  const Json means = MeansOfStages(all);
  PrintLast(all, static_cast<size_t>(o.slowest));
  double log = 0;
  for (const double one : logs) log += one / static_cast<double>(logs.size());
  Json result = {{"traces", all.size()},
                 {"median_ms", all[all.size() / 2].least->total},
                 {"p95_ms", all[all.size() * 95 / 100].least->total},
                 {"slowest_ms", all.back().least->total},
                 {"median_ms_of_rounds", of_rounds},
                 {"smallest_module_ms", module_ms},
                 {"mean_ms_of_stages", means},
                 {"median_p95_slowest_ms_of_operators", of_operators}};
  if (o.o3) result["best_tenth_over_o3"] = std::exp(log);
  return result;
}

int Main(int argc, char** argv) {
  Options o;
  CommandLine line("compile_bench", "What compiling takes");
  line.Add("--traces", &o.traces, "", {.least = 1});
  line.Add("--rounds", &o.rounds, "", {.least = 1});
  line.Add("--seed", &o.seed);
  line.Add("--slowest", &o.slowest);
  line.Add("--o3", &o.o3);
  line.Add("--results", &o.results, "Lines of JSON, appended");
  line.Add("--commit", &o.commit, "Stored with results");
  if (const auto exit_code = line.Parse(argc, argv)) return *exit_code;
  Json result = {
      {"kiln", KILN_VERSION}, {"machine", Host().fingerprint}, {"commit", o.commit}, {"seed", o.seed}};
  const auto measured = Measure(o);
  if (!measured.ok()) return std::fprintf(stderr, "%s\n", measured.status().ToString().c_str()), 1;
  result.update(*measured);
  if (!o.results.empty()) AppendResult(result, o.results);
  std::printf("%s\n", result.dump(1).c_str());
  return 0;
}

}  // namespace
}  // namespace kiln

int main(int argc, char** argv) { return kiln::Main(argc, argv); }
