// Measures the speedup of tuning over what a user has without Kiln:
//
//   side_by_side_bench [--trials 128] [--seed 0] [--results side_by_side.json] FILE.mlir[=RATIO]...
//
// Tunes each file and runs the best schedule in turns with the same file compiled by stock MLIR passes and
// LLVM -O3 (backends/vendor/stock_pipeline.h), and with the machine's FMA peak: one thread, one process, twenty
// rounds. Prints the median of the twenty ratios with its 95% interval, and GFLOP/s with their share of the
// peak, and appends them to the results as a line of JSON. A file with a line of this version, machine,
// trials and seed is not run again, so the same command resumes. The benchmark fails if a RATIO is not
// reached.
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <optional>
#include <sstream>

#include "backends/codegen/version.h"
#include "backends/cpu/cores.h"
#include "backends/import/import.h"
#include "backends/measure/measurer.h"
#include "backends/vendor/paired_timing.h"
#include "bench/fma_probe.h"
#include "bench/support/command_line.h"
#include "bench/support/json_results.h"
#include "build_info.h"
#include "lang/analysis/cost.h"
#include "modules/space.h"
#include "search/database/memory_store.h"
#include "search/run/tune.h"
#include "trace/text.h"

namespace kiln {
namespace {

constexpr int kPairs = 20;

struct Options {
  int trials = 128;
  uint64_t seed = 0;
  std::string results = "side_by_side.json", commit;
  std::vector<std::string> files;
};

double SecondsSince(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

std::string ReadAll(const std::string& path) {
  std::stringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

// Returns the key of a result. A stored result with the same key is reused.
Json KeyOf(const std::string& file, const Options& o) {
  return {{"name", std::filesystem::path(file).stem().string()},
          {"kiln", KILN_VERSION},
          {"machine", Host().fingerprint},
          {"trials", o.trials},
          {"seed", o.seed}};
}

// Tunes the function of a file as one program. So its parameters have the same order as those of the stock kernel; a
// task of the API may have them in another order.
absl::StatusOr<TuneResult> TuneAsItStands(const Program& program, const Options& o, CpuMeasurer& measurer) {
  TuneOptions options;
  options.trials = o.trials;
  options.seed = o.seed;
  options.sketches.space = DefaultSpace(measurer.target());
  options.threads = static_cast<int>(UsableCores().size());
  const absl::StatusOr<Space> space = ParseSpace(options.sketches.space);
  if (!space.ok()) return space.status();
  const auto store = MakeMemoryStore();
  auto results =
      Tune({{program.name, program, Flops(program)}}, *space, measurer.target(), options, measurer, *store);
  if (!results.ok()) return results.status();
  if ((*results)[0].record == 0) return absl::FailedPreconditionError("no candidate ran");
  return std::move((*results)[0]);
}

absl::StatusOr<Json> Measure(const std::string& file, const Options& o) {
  const auto imported = ImportFile(file);
  if (!imported.ok()) return imported.status();
  const Program& original = imported->program;
  auto measurer = CpuMeasurer::Start();
  if (!measurer.ok()) return measurer.status();
  const auto start = std::chrono::steady_clock::now();
  const auto tuned = TuneAsItStands(original, o, *measurer);
  if (!tuned.ok()) return tuned.status();
  const double tuning = SecondsSince(start);

  auto kernel = BuildKernel(original, tuned->program, measurer->builders());
  if (!kernel.ok()) return kernel.status();
  const auto stock = StockKernel(ReadAll(file), original);
  if (!stock.ok()) return stock.status();
  const auto probe = MakeFmaProbe();
  if (!probe.ok()) return probe.status();
  RunRequest turns;
  turns.kernel = *std::move(kernel);
  turns.peers = {*stock, probe->kernel};
  turns.timing.runs = kPairs;
  turns.limits.seconds = 600;
  const auto ran = RunPaired(*stock, std::move(turns));
  if (!ran.ok()) return ran.status();

  const MedianInterval ratio = RatioOf(ran->peer_seconds[0], ran->seconds);
  const double seconds = MedianOf(ran->seconds).median, gflops = 1e-9 * Flops(original) / seconds;
  const double peak = 1e-9 * probe->flops / MedianOf(ran->peer_seconds[1]).median;
  double load = 0;
  getloadavg(&load, 1);
  Json result = KeyOf(file, o);
  result.update({{"cpu", Host().cpu},
                 {"llvm", LlvmVersion()},
                 {"ratio", ratio.median},
                 {"ratio_interval", {ratio.low, ratio.high}},
                 {"seconds", seconds},
                 {"peer_seconds", MedianOf(ran->peer_seconds[0]).median},
                 {"gflops", gflops},
                 {"peak_gflops", peak},
                 {"share_of_peak", gflops / peak},
                 {"tuning_seconds", tuning},
                 {"load_average", load},
                 {"failures", tuned->failures},
                 {"trace", Print(tuned->trace)}});
  return result;
}

// Measures a file or finds its result, prints it, and returns whether it reached the requested ratio, if any.
absl::StatusOr<bool> Report(const std::string& argument, const Options& o) {
  const size_t at = argument.rfind('=');
  const std::string file = argument.substr(0, at);
  const double wanted = at == std::string::npos ? 0 : std::strtod(argument.c_str() + at + 1, nullptr);
  const Json key = KeyOf(file, o);
  std::optional<Json> result = FindResult(key, o.results);
  if (!result) {
    auto measured = Measure(file, o);
    if (!measured.ok()) return measured.status();
    result = *std::move(measured);
    (*result)["commit"] = o.commit;
    AppendResult(*result, o.results);
  }
  const auto number = [&](const char* name) { return (*result)[name].get<double>(); };
  const bool reached = number("ratio") >= wanted;
  std::printf("%-32s %7.2fx  %8.3f ms beside %9.3f ms, %6.1f GFLOP/s, %3.0f%% of the peak%s\n",
              key["name"].get<std::string>().c_str(), number("ratio"), 1e3 * number("seconds"),
              1e3 * number("peer_seconds"), number("gflops"), 100 * number("share_of_peak"),
              reached ? "" : absl::StrCat("  MISSED, wanted ", wanted, "x").c_str());
  std::fflush(stdout);
  return reached;
}

int Main(int argc, char** argv) {
  Options o;
  CommandLine line("side_by_side_bench", "Tuned programs beside stock passes and LLVM -O3");
  line.Add("--trials", &o.trials, "Candidates to measure for each file", {.least = 1});
  line.Add("--seed", &o.seed, "Of all random choices", {.least = 0});
  line.Add("--results", &o.results, "Lines of JSON, to which results are appended");
  line.Add("--commit", &o.commit, "Stored with results");
  line.Add("FILE", &o.files, "FILE.mlir, or FILE.mlir=RATIO", {.required = true});
  if (const auto exit_code = line.Parse(argc, argv)) return *exit_code;
  bool good = true;
  for (const std::string& argument : o.files) {
    const auto reached = Report(argument, o);
    if (!reached.ok())
      std::fprintf(stderr, "%s: %s\n", argument.c_str(), reached.status().ToString().c_str());
    good = good && reached.ok() && *reached;
  }
  return good ? 0 : 1;
}

}  // namespace
}  // namespace kiln

int main(int argc, char** argv) { return kiln::Main(argc, argv); }
