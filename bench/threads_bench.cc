// Measures the overhead and the speedup of threads, each pinned to a core:
//
//   threads_bench                                                                the time of a fork and join
//   threads_bench [--trials 128] [--seed 0] [--threads 2] FILE.mlir[=TRACE]...   the speedup
//
// --results FILE: appends a line of JSON for each measurement, with --commit. Fork and join: in the body,
// every thread waits for all others, so all must take part. It runs right after the previous one, or after
// the pool has gone to sleep. Prints the median, the first and the last decile in microseconds, of 20,000
// runs (400 after a sleep). Speedup: each file is tuned for these threads, or comes with a trace. The
// schedule on one thread runs in turns with itself on all threads: 3 runs of 50 pairs, and the median ratio
// of each run. Before and after each pair, the machine's FMA peak runs on one thread and on all: cores that
// share units, or that other work uses, gain less there too. A pair is clean if the peak's speedup is at
// least 95% of the number of threads.
#include <algorithm>
#include <atomic>
#include <cstdio>
#include <fstream>
#include <sstream>

#include "backends/cpu/targets.h"
#include "backends/import/import.h"
#include "backends/runner/kiln_pool.h"
#include "backends/runner/threads.h"
#include "backends/runner/timing.h"
#include "backends/vendor/paired_timing.h"
#include "bench/fma_probe.h"
#include "bench/support/command_line.h"
#include "bench/support/json_results.h"
#include "bench/tune_alone.h"
#include "testing/compiled/run_program.h"
#include "trace/replay.h"
#include "trace/text.h"

namespace kiln {
namespace {

constexpr int kRuns = 3, kPairs = 50;

struct Options {
  int trials = 128, threads = 2;
  uint64_t seed = 0;
  std::vector<std::string> files;
  std::string results, commit;

  void Keep(const std::string& name, const Json& measured) const {
    if (results.empty()) return;
    Json result = {{"name", name}, {"machine", Host().fingerprint}, {"commit", commit}, {"threads", threads}};
    result.update(measured);
    AppendResult(result, results);
  }
};

// Pauses in a spin loop, so that the thread does not request the cache line at every step. Does nothing on other CPUs
// than x86-64.
void Relax() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#endif
}

// Forks and joins once, with all threads taking part, and returns the seconds. The threads wait for a counter, which
// has its own cache line.
double Fork(int threads) {
  alignas(128) static std::atomic<int> arrived;
  arrived = 0;
  void* args[] = {&arrived, &threads};
  const double start = MonotonicSeconds();
  kiln_parallel_for(
      threads, threads, 1,
      [](int64_t, int64_t, void** given) {
        auto& here = *static_cast<std::atomic<int>*>(given[0]);
        const int all = *static_cast<int*>(given[1]);
        ++here;
        while (here < all) Relax();
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

void ReportForks(const char* what, const Options& o, int count, double idle) {
  std::vector<double> seconds;
  for (int i = 0; i < count; ++i) {
    Idle(idle);
    seconds.push_back(Fork(o.threads));
  }
  std::sort(seconds.begin(), seconds.end());
  const auto at = [&](double share) { return 1e6 * seconds[static_cast<size_t>(share * (count - 1))]; };
  std::printf("fork and join on %d threads, %s: %.2f us (%.2f .. %.2f)\n", o.threads, what, at(0.5), at(0.1),
              at(0.9));
  o.Keep(absl::StrCat("fork and join, ", what), {{"us", at(0.5)}, {"us_tenths", {at(0.1), at(0.9)}}});
}

struct Scheduled {
  std::string name;
  Trace trace;
  Program program;
};

// Returns the schedule to measure, with its trace: tunes FILE, or replays the trace of FILE=TRACE.
absl::StatusOr<Scheduled> ScheduleOf(const std::string& argument, const Options& o) {
  const size_t equals = argument.find('=');
  if (equals == std::string::npos) {
    auto tuned = TuneAlone({.path = argument}, {.trials = o.trials, .seed = o.seed, .threads = o.threads});
    if (!tuned.ok()) return tuned.status();
    return Scheduled{tuned->best.name, std::move(tuned->best.trace), std::move(tuned->best.program)};
  }
  const auto imported = ImportFile(argument.substr(0, equals));
  if (!imported.ok()) return imported.status();
  std::stringstream text;
  text << std::ifstream(argument.substr(equals + 1)).rdbuf();
  auto trace = ParseTrace(text.str(), argument.substr(equals + 1));
  if (!trace.ok()) return trace.status();
  const Target target = CpuTarget(o.threads);
  const auto replayed = kiln::Replay(*trace, imported->program, target);
  if (!replayed.ok()) return replayed.status();
  return Scheduled{imported->program.name, *std::move(trace), replayed->program()};
}

// Measures the speedup of all threads over one if nothing is shared: the FMA peak, repeated for some
// milliseconds.
class Peak {
 public:
  explicit Peak(int threads) : threads_(threads), probe_(MakeFmaProbe().value()) {
    loaded_ = Loaded::FromBytes(probe_.kernel.shared_object).value();
  }

  double Gain() const { return Seconds(1) / Seconds(threads_); }

 private:
  double Seconds(int threads) const {
    void* args[] = {const_cast<Peak*>(this)};
    const double start = MonotonicSeconds();
    kiln_parallel_for(
        threads, 2 * threads_, 2,
        [](int64_t begin, int64_t end, void** given) {
          const auto& peak = *static_cast<const Peak*>(given[0]);
          Array<float> registers(static_cast<size_t>(peak.probe_.kernel.params[0].elements));
          for (int64_t i = begin; i < end; ++i) CallKernel(*peak.loaded_, "probe", {registers.data()});
        },
        args);
    return MonotonicSeconds() - start;
  }

  const int threads_;
  const FmaProbe probe_;
  std::optional<Loaded> loaded_;
};

// Compiles a schedule once, and times it on one thread or on all threads.
class Turns {
 public:
  static absl::StatusOr<Turns> Of(const Program& program) {
    Turns turns(program);
    std::vector<size_t> prepared;
    auto loaded = BuildProgram(program, {}, &prepared);
    if (!loaded.ok()) return loaded.status();
    turns.loaded_ = *std::move(loaded);
    turns.set_threads_ = turns.loaded_->Get<void(int)>(ThreadsSymbol(program.name));
    if (turns.set_threads_ == nullptr)
      return absl::FailedPreconditionError("no loop of the schedule is parallel");
    for (const Id parameter : program.parameters)
      turns.buffers_.push_back(Random<float>(static_cast<size_t>(BytesOf(program, parameter) / 4), 1));
    for (const size_t bytes : prepared) turns.buffers_.emplace_back(bytes / 4 + 1);
    if (!prepared.empty())
      CallKernel(*turns.loaded_, absl::StrCat(program.name, "_prepare"), turns.Arguments());
    return turns;
  }

  // Calls the kernel twice and returns the seconds of the second call.
  double Seconds(int threads) {
    set_threads_(threads);
    CallKernel(*loaded_, name_, Arguments());
    const double start = MonotonicSeconds();
    CallKernel(*loaded_, name_, Arguments());
    return MonotonicSeconds() - start;
  }

 private:
  explicit Turns(const Program& program) : name_(program.name) {}
  std::vector<void*> Arguments() {
    std::vector<void*> arguments;
    for (auto& buffer : buffers_) arguments.push_back(buffer.data());
    return arguments;
  }

  std::string name_;
  std::optional<Loaded> loaded_;
  void (*set_threads_)(int) = nullptr;
  std::vector<Array<float>> buffers_;
};

absl::Status ReportGain(const Scheduled& tuned, const Options& o) {
  absl::StatusOr<Turns> turns = Turns::Of(tuned.program);
  if (!turns.ok()) return turns.status();
  const Peak peak(o.threads);
  std::vector<double> ratios, peaks, clean, one, all;
  for (int run = 0; run < kRuns; ++run) {
    std::vector<double> of_run;
    for (int pair = 0; pair < kPairs; ++pair) {
      const double before = peak.Gain();
      double seconds[2];
      for (int turn = 0; turn < 2; ++turn) {
        const bool on_all = (turn + pair) % 2 != 0;
        seconds[on_all] = turns->Seconds(on_all ? o.threads : 1);
      }
      const double after = peak.Gain(), ratio = seconds[0] / seconds[1];
      one.push_back(seconds[0]);
      all.push_back(seconds[1]);
      of_run.push_back(ratio);
      peaks.push_back(before);
      if (std::min(before, after) >= 0.95 * o.threads) clean.push_back(ratio);
    }
    ratios.push_back(MedianOf(of_run).median);
  }
  std::printf(
      "%s: %d threads are %.2f times as fast as one (runs: %.2f %.2f %.2f; %zu clean pairs of %d: %.2f; the "
      "FMA peak: %.2f), %.3f ms and %.3f ms\n%s\n",
      tuned.name.c_str(), o.threads, MedianOf(ratios).median, ratios[0], ratios[1], ratios[2], clean.size(),
      kRuns * kPairs, MedianOf(clean).median, MedianOf(peaks).median, 1e3 * MedianOf(one).median,
      1e3 * MedianOf(all).median, Print(tuned.trace).c_str());
  o.Keep(tuned.name, {{"trials", o.trials},
                      {"seed", o.seed},
                      {"gain", MedianOf(ratios).median},
                      {"gain_of_runs", ratios},
                      {"clean_pairs", clean.size()},
                      {"gain_of_clean", MedianOf(clean).median},
                      {"gain_of_fma_peak", MedianOf(peaks).median},
                      {"ms", {1e3 * MedianOf(one).median, 1e3 * MedianOf(all).median}}});
  return absl::OkStatus();
}

int Main(int argc, char** argv) {
  Options o;
  CommandLine line("threads_bench", "What threads cost and gain");
  line.Add("--trials", &o.trials, "", {.least = 1});
  line.Add("--seed", &o.seed, "", {.least = 0});
  line.Add("--threads", &o.threads, "", {.least = 2, .most = kMaxThreads});
  line.Add("--results", &o.results, "Lines of JSON, appended");
  line.Add("--commit", &o.commit, "Stored with results");
  line.Add("FILE", &o.files, "FILE.mlir, or FILE.mlir=TRACE");
  if (const auto exit_code = line.Parse(argc, argv)) return *exit_code;
  std::vector<Scheduled> tuned;  // tunes everything before this thread is pinned to one core
  for (const std::string& file : o.files) {
    auto result = ScheduleOf(file, o);
    if (!result.ok())
      return std::fprintf(stderr, "%s: %s\n", file.c_str(), result.status().ToString().c_str()), 1;
    tuned.push_back(*std::move(result));
  }
  if (StartThreads(o.threads) != o.threads) return std::fprintf(stderr, "there are not so many threads\n"), 1;
  ReportForks("right after the last", o, 20000, 0);
  ReportForks("after 2 ms without work", o, 400, 2e-3);
  for (const Scheduled& result : tuned) {
    const absl::Status status = ReportGain(result, o);
    if (!status.ok())
      return std::fprintf(stderr, "%s: %s\n", result.name.c_str(), status.ToString().c_str()), 1;
  }
  return 0;
}

}  // namespace
}  // namespace kiln

int main(int argc, char** argv) { return kiln::Main(argc, argv); }
