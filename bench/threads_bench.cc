// What threads cost and gain, on two threads kept to two cores:
//
//   threads_bench                                           what a fork and join takes
//   threads_bench [--trials 128] [--seed 0] [--threads 2] FILE.mlir...    and what it gains
//
// Fork and join: of a body in which every thread waits for the others, so that all take part; right after the
// one before, and after the pool has gone to sleep. Medians and tenths of 20,000 (400), in microseconds.
// Gain: each file is tuned for these threads, and the best schedule found runs in turns with itself on one
// thread and on all, in this process: 3 runs of 50 pairs, of which the median of the ratios, and of the runs
// the median.
#include <algorithm>
#include <atomic>
#include <cstdio>

#include "CLI/CLI.hpp"
#include "backends/import/import.h"
#include "backends/runner/kiln_pool.h"
#include "backends/runner/threads.h"
#include "backends/runner/timing.h"
#include "bench/beside.h"
#include "tests/backends/run_program.h"
#include "trace/text.h"

namespace kiln {
namespace {

constexpr int kRuns = 3, kPairs = 50;

struct Options {
  int trials = 128, threads = 2;
  uint64_t seed = 0;
  std::vector<std::string> files;
};

// Seconds of a fork and join in which all take part.
double Fork(int threads) {
  std::atomic<int> arrived{0};
  void* args[] = {&arrived, &threads};
  const double start = MonotonicSeconds();
  kiln_parallel_for(
      threads, threads, 1,
      [](int64_t, int64_t, void** given) {
        auto& here = *static_cast<std::atomic<int>*>(given[0]);
        ++here;
        while (here < *static_cast<int*>(given[1])) {
        }
      },
      args);
  return MonotonicSeconds() - start;
}

double Idle(double seconds) {
  const double end = MonotonicSeconds() + seconds;
  while (MonotonicSeconds() < end) {
  }
  return 0;
}

void ReportForks(const char* what, int threads, int count, double idle) {
  std::vector<double> seconds;
  for (int i = 0; i < count; ++i) {
    Idle(idle);
    seconds.push_back(Fork(threads));
  }
  std::sort(seconds.begin(), seconds.end());
  const auto at = [&](double share) { return 1e6 * seconds[static_cast<size_t>(share * (count - 1))]; };
  std::printf("fork and join on %d threads, %s: %.2f us (%.2f .. %.2f)\n", threads, what, at(0.5), at(0.1),
              at(0.9));
}

absl::StatusOr<TuneResult> TuneFile(const std::string& file, const Options& o) {
  const auto imported = ImportFile(file);
  if (!imported.ok()) return imported.status();
  auto measurer = CpuMeasurer::Start({.threads = o.threads});
  if (!measurer.ok()) return measurer.status();
  return TuneAlone(imported->program, o.trials, o.seed, *measurer);
}

absl::Status ReportGain(const TuneResult& tuned, const Options& o) {
  const Program& best = tuned.program;
  std::vector<size_t> prepared;
  const auto loaded = BuildProgram(best, {}, &prepared);
  if (!loaded.ok()) return loaded.status();
  auto* set_threads = loaded->Get<void(int)>(ThreadsSymbol(best.name));
  if (set_threads == nullptr) return absl::FailedPreconditionError("the best schedule has no parallel loop");
  std::vector<Array<float>> buffers;
  std::vector<void*> arguments;
  for (const Id parameter : best.parameters)
    buffers.push_back(Random<float>(static_cast<size_t>(BytesOf(best, parameter) / 4), 1));
  for (const size_t bytes : prepared) buffers.emplace_back(bytes / 4 + 1);
  for (auto& buffer : buffers) arguments.push_back(buffer.data());
  if (!prepared.empty()) CallKernel(*loaded, absl::StrCat(best.name, "_prepare"), arguments);

  std::vector<double> ratios, seconds[2];  // on one thread, on all
  for (int run = 0; run < kRuns; ++run) {
    std::vector<double> of_run;
    for (int pair = 0; pair < kPairs; ++pair) {
      for (int turn = 0; turn < 2; ++turn) {
        const bool all = (turn + pair) % 2 != 0;
        set_threads(all ? o.threads : 1);
        CallKernel(*loaded, best.name, arguments);
        const double start = MonotonicSeconds();
        CallKernel(*loaded, best.name, arguments);
        seconds[all].push_back(MonotonicSeconds() - start);
      }
      of_run.push_back(seconds[0].back() / seconds[1].back());
    }
    ratios.push_back(Median(of_run));
  }
  std::printf(
      "%s: %d threads are %.2f times as fast as one (runs: %.2f %.2f %.2f; least of each: %.2f), %.3f "
      "ms\n%s\n",
      best.name.c_str(), o.threads, Median(ratios), ratios[0], ratios[1], ratios[2],
      Least(seconds[0]) / Least(seconds[1]), 1e3 * Median(seconds[1]), Print(tuned.trace).c_str());
  return absl::OkStatus();
}

int Main(int argc, char** argv) {
  Options o;
  CLI::App app("What threads cost and gain", "threads_bench");
  app.add_option("--trials", o.trials)->check(CLI::PositiveNumber)->capture_default_str();
  app.add_option("--seed", o.seed)->check(CLI::NonNegativeNumber)->capture_default_str();
  app.add_option("--threads", o.threads)->check(CLI::Range(2, kMaxThreads))->capture_default_str();
  app.add_option("FILE", o.files, "To be tuned");
  CLI11_PARSE(app, argc, argv);
  std::vector<TuneResult> tuned;  // all before this thread is kept to one core
  for (const std::string& file : o.files) {
    auto result = TuneFile(file, o);
    if (!result.ok())
      return std::fprintf(stderr, "%s: %s\n", file.c_str(), result.status().ToString().c_str()), 1;
    tuned.push_back(*std::move(result));
  }
  if (StartThreads(o.threads) != o.threads) return std::fprintf(stderr, "there are not so many threads\n"), 1;
  ReportForks("right after the last", o.threads, 20000, 0);
  ReportForks("after 2 ms without work", o.threads, 400, 2e-3);
  for (const TuneResult& result : tuned) {
    const absl::Status status = ReportGain(result, o);
    if (!status.ok())
      return std::fprintf(stderr, "%s: %s\n", result.name.c_str(), status.ToString().c_str()), 1;
  }
  return 0;
}

}  // namespace
}  // namespace kiln

int main(int argc, char** argv) { return kiln::Main(argc, argv); }
