// Prints how long candidates for a GPU take to compile, from the program to the cubin, and where the time goes:
//
//   gpu_compile_bench [--target h100] [--operators GMM0,C2D1,SFM0] [--draws 40] [--rounds 3] [--seed 1]
//                     [--results FILE] [--commit ID] [--slowest N]
//
// Random schedules of the space `cuda` are compiled in this process, all of them in each round; ptxas is a process of
// its own. Times are CPU milliseconds, of that process too. The smallest total of a schedule counts. Prints and appends
// a line of JSON for each operator: median, 95th percentile and maximum of the totals, and the mean of each stage.
// --slowest N prints the programs of the N slowest. Run from the root of the sources.
#include <sys/resource.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_split.h"
#include "backends/codegen/context.h"
#include "backends/cpu/targets.h"
#include "backends/gpu/codegen.h"
#include "backends/gpu/lower_kernels.h"
#include "backends/gpu/ptxas.h"
#include "bench/gpu/draws.h"
#include "bench/support/command_line.h"
#include "bench/support/json_results.h"
#include "build_info.h"
#include "fmt/format.h"
#include "lang/target/gpu.h"

namespace kiln {
namespace {

constexpr const char* kStages[] = {"plan", "lower", "nvvm", "translate", "optimize", "emit", "ptxas"};
constexpr size_t kNumStages = std::size(kStages);

// Returns the CPU milliseconds of the child processes that have ended.
double MillisecondsOfChildren() {
  rusage used = {};
  getrusage(RUSAGE_CHILDREN, &used);
  const auto ms = [](const timeval& t) {
    return 1e3 * static_cast<double>(t.tv_sec) + 1e-3 * static_cast<double>(t.tv_usec);
  };
  return ms(used.ru_utime) + ms(used.ru_stime);
}

struct Times {
  double total = HUGE_VAL;
  double stages[kNumStages] = {};
  size_t ptx_bytes = 0;
};

absl::StatusOr<Times> Compile(const Program& program, const std::string& chip) {
  Times times;
  double start = MicrosecondsOfThread();
  const auto lap = [&](size_t stage) {
    const double now = MicrosecondsOfThread();
    times.stages[stage] = 1e-3 * (now - std::exchange(start, now));
  };
  const auto planned = plan::PlanKernels(program);
  if (!planned.ok()) return planned.status();
  lap(0);
  auto lowered = LowerKernels(planned->program, planned->plan, Context());
  if (!lowered.ok()) return lowered.status();
  lap(1);
  if (absl::Status status = ToNvvm(*lowered->module, lowered->launches); !status.ok()) return status;
  lap(2);
  const auto ptx = ToPtx(*lowered->module, chip);
  if (!ptx.ok()) return ptx.status();
  times.stages[3] = ptx->translate;
  times.stages[4] = ptx->optimize;
  times.stages[5] = ptx->emit;
  start = MicrosecondsOfThread();
  const double children = MillisecondsOfChildren();
  const auto cubin = AssemblePtx(ptx->ptx, chip);
  if (!cubin.ok()) return cubin.status();
  lap(6);
  times.stages[6] += MillisecondsOfChildren() - children;
  times.total = std::accumulate(std::begin(times.stages), std::end(times.stages), 0.0);
  times.ptx_bytes = ptx->ptx.size();
  return times;
}

struct Drawn {
  Program program;
  Times least;
};

// Draws from each sketch of the space in turn. Returns the first `draws` candidates that the checks accept.
std::vector<Drawn> Draw(const Program& program, const Target& target, int draws, uint64_t seed) {
  const auto sketches = Enumerate(ParseSpace("cuda").value(), program, target);
  KILN_CHECK(sketches.ok(), sketches.status().ToString());
  std::vector<Drawn> candidates;
  for (uint64_t draw = 0; std::ssize(candidates) < draws; ++draw) {
    RandomDice dice(Engine({seed, draw}));
    RandomChooser chooser(dice);
    const auto replayed =
        Replay(sketches->sketches[draw % sketches->sketches.size()].trace, program, target, chooser);
    if (replayed.ok() && Refusal(replayed->program(), target).empty())
      candidates.push_back({replayed->program(), {}});
  }
  return candidates;
}

struct Options {
  std::string target = "h100", operators = "GMM0,C2D1,SFM0", results, commit;
  int draws = 40, rounds = 3, slowest = 0;
  uint64_t seed = 1;
};

Json Measure(const Options& o, const std::string& name) {
  const Target target = NamedTarget(o.target).value();
  const std::string chip(target.gpu->sm);
  std::vector<Drawn> candidates = Draw(PaperProgram(name), target, o.draws, o.seed);
  for (int round = 0; round < o.rounds; ++round) {
    for (Drawn& candidate : candidates) {
      const auto times = Compile(candidate.program, chip);
      KILN_CHECK(times.ok(), times.status().ToString());
      if (times->total < candidate.least.total) candidate.least = *times;
    }
  }
  std::sort(candidates.begin(), candidates.end(),
            [](const Drawn& a, const Drawn& b) { return a.least.total < b.least.total; });
  const auto total = [&](size_t percent) {
    return candidates[std::min(candidates.size() - 1, candidates.size() * percent / 100)].least.total;
  };
  Json means;
  for (size_t stage = 0; stage < kNumStages; ++stage) {
    double sum = 0;
    for (const Drawn& candidate : candidates) sum += candidate.least.stages[stage];
    means[kStages[stage]] = sum / static_cast<double>(candidates.size());
  }
  for (int i = 0; i < std::min<int>(o.slowest, std::ssize(candidates)); ++i) {
    const Drawn& slow = candidates[candidates.size() - 1 - i];
    fmt::print("{} {:.1f} ms, {} bytes of PTX\n{}\n", name, slow.least.total, slow.least.ptx_bytes,
               ToString(slow.program));
  }
  return {{"operator", name},         {"target", o.target},        {"draws", candidates.size()},
          {"seed", o.seed},           {"median_ms", total(50)},    {"p95_ms", total(95)},
          {"slowest_ms", total(100)}, {"mean_ms_of_stages", means}};
}

int Main(int argc, char** argv) {
  Options o;
  CommandLine line("gpu_compile_bench", "What compiling for a GPU takes");
  line.Add("--target", &o.target, "The name of a GPU");
  line.Add("--operators", &o.operators, "Files of bench/operators, with commas");
  line.Add("--draws", &o.draws, "For each operator", {.least = 1});
  line.Add("--rounds", &o.rounds, "", {.least = 1});
  line.Add("--seed", &o.seed);
  line.Add("--slowest", &o.slowest);
  line.Add("--results", &o.results, "A file to which lines of JSON are appended");
  line.Add("--commit", &o.commit, "Stored with results");
  line.AllowOthers();  // those of Google Benchmark
  if (const auto exit_code = line.Parse(argc, argv)) return *exit_code;
  for (const std::string& name : std::vector<std::string>(absl::StrSplit(o.operators, ','))) {
    Json result = {{"machine", Host().fingerprint}, {"commit", o.commit}};
    result.update(Measure(o, name));
    if (!o.results.empty()) AppendResult(result, o.results);
    fmt::print("{}\n", result.dump());
    std::fflush(stdout);
  }
  return 0;
}

}  // namespace
}  // namespace kiln

int main(int argc, char** argv) { return kiln::Main(argc, argv); }
