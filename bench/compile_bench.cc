// What compiling candidates takes, and what the short pipeline costs:
//
//   compile_bench [--traces 500] [--seed 0] [--slowest 0] [--o3] [--results FILE] [--commit ID]
//
// Random traces of the default space over eight operators are lowered, compiled and linked in this process,
// in CPU milliseconds of its thread; the first of all is not counted. Printed and appended as a line of JSON:
// the median, the 95th percentile, the mean of each stage. --slowest N: that many traces, with their stages
// and the size of their code.
// --o3: each operator's traces are timed, and the fastest tenth runs in turns with the same program through
// LLVM -O3: the geometric mean of (ours / -O3's) over all, of medians of 21 pairs.
#include <time.h>

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "CLI/CLI.hpp"
#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "backends/builder/compile.h"
#include "backends/cpu/beside.h"
#include "backends/cpu/context.h"
#include "backends/cpu/kernel.h"
#include "backends/cpu/targets.h"
#include "bench/json_results.h"
#include "bench/random_candidates.h"
#include "build_info.h"
#include "lang/text.h"

namespace kiln {
namespace {

struct Options {
  int traces = 500, slowest = 0;
  uint64_t seed = 0;
  bool o3 = false;
  std::string results = "bench/results/compile.json", commit;
};

// CPU milliseconds of this thread.
double Now() {
  timespec now;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) * 1e3 + static_cast<double>(now.tv_nsec) * 1e-6;
}

struct Compiled {
  std::string name, program;
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

// Of kernels in turns: seconds of each, medians.
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

// Appends log(ours / O3's) of the fastest tenth.
absl::Status CompareWithO3(const std::vector<std::pair<Program, Compiled>>& all, std::vector<double>* logs) {
  std::vector<std::pair<double, size_t>> order;
  for (size_t i = 0; i < all.size(); ++i) {
    const auto seconds = Time({KernelOfCompiled(all[i].first, all[i].second)}, 3);
    if (seconds.ok()) order.emplace_back(seconds->front(), i);
  }
  std::sort(order.begin(), order.end());
  order.resize((order.size() + 9) / 10);
  for (const auto& [seconds, i] : order) {
    const auto full = Compile(all[i].first, CodegenOptions::Pipeline::kO3);
    if (!full.ok()) return full.status();
    const auto pair =
        Time({KernelOfCompiled(all[i].first, all[i].second), KernelOfCompiled(all[i].first, *full)}, 21);
    if (!pair.ok()) return pair.status();
    logs->push_back(std::log((*pair)[0] / (*pair)[1]));
    std::printf("%s: %.4f ms, -O3 %.4f ms\n", all[i].second.name.c_str(), 1e3 * (*pair)[0], 1e3 * (*pair)[1]);
  }
  return absl::OkStatus();
}

absl::StatusOr<Json> Measure(const Options& o) {
  std::vector<Compiled> all;
  std::vector<double> logs;
  Json of_operators;
  const int each = (o.traces + 7) / 8;
  for (const char* name : kEightOperators) {
    RandomCandidates candidates(name, CpuTarget());
    std::vector<std::pair<Program, Compiled>> of_name;
    std::vector<double> totals;
    for (int i = 0; i < each; ++i) {
      const Point point = candidates.Draw(o.seed + static_cast<uint64_t>(i));
      const Program& program = point.replayed.program();
      if (all.empty() && i == 0) (void)Compile(program, CodegenOptions::Pipeline::kMinimal);
      auto compiled = Compile(program, CodegenOptions::Pipeline::kMinimal);
      if (!compiled.ok()) return compiled.status();
      compiled->name = name;
      if (o.slowest > 0) compiled->program = ToString(program);
      totals.push_back(compiled->total);
      of_name.emplace_back(program, *std::move(compiled));
    }
    std::sort(totals.begin(), totals.end());
    of_operators[name] = {totals[totals.size() / 2], totals[totals.size() * 95 / 100], totals.back()};
    if (o.o3) {
      if (const absl::Status status = CompareWithO3(of_name, &logs); !status.ok()) return status;
    }
    for (auto& [program, compiled] : of_name) all.push_back(std::move(compiled));
  }
  std::sort(all.begin(), all.end(), [](const Compiled& a, const Compiled& b) { return a.total < b.total; });
  Json means;
  const auto mean = [&](const char* stage, auto of) {
    double sum = 0;
    for (const Compiled& one : all) sum += of(one);
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
  for (size_t i = 0; i < std::min<size_t>(static_cast<size_t>(o.slowest), all.size()); ++i) {
    const Compiled& c = all[all.size() - 1 - i];
    std::printf("%s %.1f ms (lower %.1f, convert %.1f, optimize %.1f, emit %.1f), %zu bytes\n%s\n",
                c.name.c_str(), c.total, c.lower, c.stages.convert, c.stages.optimize, c.stages.emit, c.bytes,
                c.program.c_str());
  }
  double load = 0, log = 0;
  getloadavg(&load, 1);
  for (const double one : logs) log += one / static_cast<double>(logs.size());
  Json result = {{"traces", all.size()},
                 {"median_ms", all[all.size() / 2].total},
                 {"p95_ms", all[all.size() * 95 / 100].total},
                 {"slowest_ms", all.back().total},
                 {"mean_ms_of_stages", means},
                 {"median_p95_slowest_ms_of_operators", of_operators},
                 {"load_average", load}};
  if (o.o3) result["best_tenth_over_o3"] = std::exp(log);
  return result;
}

int Main(int argc, char** argv) {
  Options o;
  CLI::App app("What compiling takes", "compile_bench");
  app.add_option("--traces", o.traces)->check(CLI::PositiveNumber)->capture_default_str();
  app.add_option("--seed", o.seed)->capture_default_str();
  app.add_option("--slowest", o.slowest)->capture_default_str();
  app.add_flag("--o3", o.o3);
  app.add_option("--results", o.results, "Lines of JSON, appended")->capture_default_str();
  app.add_option("--commit", o.commit, "Stored with results");
  CLI11_PARSE(app, argc, argv);
  Json result = {
      {"kiln", KILN_VERSION}, {"machine", Host().fingerprint}, {"commit", o.commit}, {"seed", o.seed}};
  result["date"] = absl::FormatTime("%Y-%m-%d %H:%M", absl::Now(), absl::UTCTimeZone());
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
