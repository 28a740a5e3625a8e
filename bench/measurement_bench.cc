// Tests whether measured times can be trusted, and whether wrong kernels are detected:
//
//   measurement_bench [--runs] [--race] [--injections] [--results FILE] [--commit ID] [--injected 200]
//                     [--seed 0]
//
// --runs        Measures each of three programs 20 times, with a new measurer and 100 runs each time. Reports
//               how much the medians differ (largest minus smallest, and standard deviation), relative to the
//               reference kernel.
// --race        Races a matmul 100 times against itself with 5% of its rows computed twice. Reports how often
//               the medians tell which one is slower.
// --injections  Injects defects into the code of random candidates of eight operators: a loop that misses its
//               first or last iteration or has one too many, an access one element off, a missing store, a
//               store one element before or past a parameter. A mutant that passes counts as missed, unless it
//               is equal (it compiles to the candidate's code) or equivalent (for three other inputs its
//               outputs equal the candidate's bit for bit, and they are finite if those are, for inputs of
//               widely spread magnitudes). --seed draws other candidates and places.
//
// Without flags: all three. Each program appends a line of JSON when it is done; a program that has a line of
// this version, machine and commit is not run again.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <functional>

#include "absl/strings/str_cat.h"
#include "backends/cpu/targets.h"
#include "backends/measure/measurer.h"
#include "backends/vendor/paired_timing.h"
#include "backends/workers/scratch_folder.h"
#include "bench/random_candidates.h"
#include "bench/support/command_line.h"
#include "bench/support/json_results.h"
#include "build_info.h"
#include "testing/compiled/injections.h"
#include "testing/matmul.h"
#include "validator/numeric/tolerance.h"

namespace kiln {
namespace {

constexpr int kRuns = 20, kRounds = 100, kRaces = 100;
constexpr double kSeconds = 4;
constexpr uint64_t kOtherInputs[] = {1000, 2000, 3000};

struct Options {
  bool runs = false, race = false, injections = false;
  int injected = 200;
  uint64_t seed = 0;
  std::string results = "bench/results/measurement.json", commit;
};

// --- The functions below implement the three measurements: runs, race and injections.

// A measurer that can run other code in place of the code that it built, and keeps the kernels that it ran.
struct Swapping {
  std::vector<std::string> code;  // for each request in turn, the code to run; empty: the built code
  std::vector<KernelObject> ran;
  std::optional<CpuMeasurer> measurer;

  Swapping() {
    CpuMeasurerOptions options;
    options.before_run = [this](const MeasureRequest&, KernelObject* kernel) {
      const std::string& other = ran.size() < code.size() ? code[ran.size()] : "";
      if (!other.empty()) kernel->shared_object = other;
      ran.push_back(*kernel);
    };
    auto started = CpuMeasurer::Start(options);
    KILN_CHECK(started.ok(), started.status().ToString());
    measurer.emplace(*std::move(started));
  }
  void Next(std::vector<std::string> next) {
    code = std::move(next);
    ran.clear();
  }
};

bool IsEquivalent(const KernelObject& candidate, KernelObject mutant, int stress_sets) {
  for (KernelParam& param : mutant.params) param.tolerance = {};
  for (const uint64_t seed : kOtherInputs) {
    const RunRequest request{
        .kernel = mutant, .data_seed = seed, .timing = {.runs = 1}, .stress = {.sets = stress_sets}};
    if (!RunPaired(candidate, request).ok()) return false;
  }
  return true;
}

Json Injections(const std::string& name, int wanted, uint64_t first_seed) {
  RandomCandidates candidates(name, CpuTarget());
  Swapping swapping;
  std::map<std::string, int> caught;
  std::vector<std::string> of_missed;
  int equal = 0, injected = 0;
  std::vector<std::string> equivalent;
  for (uint64_t seed = first_seed; injected < wanted; ++seed) {
    Engine engine({seed, 5});
    const Point point = candidates.Draw(seed);
    const Program& program = point.replayed.program();
    const Defect& kind = kDefects[seed % std::size(kDefects)];
    const auto mutant = BuildChanged(program, [&](mlir::ModuleOp m) { return kind.inject(m, engine); });
    if (!mutant.ok() || !*mutant) continue;
    const MeasureRequest request{.original = &candidates.original(), .scheduled = &program};
    swapping.Next({**mutant});
    const MeasureResult result = swapping.measurer->Measure({request}).front();
    if (swapping.ran.empty()) continue;
    if (!result.ok()) {
      ++injected;
      ++caught[result.status];
      continue;
    }
    const KernelObject passed = swapping.ran.front();
    swapping.Next({""});
    if (!swapping.measurer->Measure({request}).front().ok()) continue;
    const KernelObject& candidate = swapping.ran.front();
    const std::string described = absl::StrCat(kind.name, ", seed ", seed);
    if (candidate.shared_object == passed.shared_object) {
      ++equal;
    } else if (IsEquivalent(candidate, passed, StressSets(candidates.original()))) {
      equivalent.push_back(described);
    } else {
      ++injected;
      of_missed.push_back(described);
    }
  }
  return {{"injected", injected}, {"caught", injected - static_cast<int>(of_missed.size())},
          {"caught_as", caught},  {"missed", of_missed},
          {"equal", equal},       {"equivalent", equivalent}};
}

Json Runs(const std::string& name) {
  RandomCandidates candidates(name, CpuTarget());
  const Point point = candidates.Draw(1);
  std::vector<double> medians;
  std::vector<int> samples;
  const auto kept = ScratchFolder::Make().value();
  for (int run = 0; run < kRuns; ++run) {
    auto measurer =
        CpuMeasurer::Start({.race_rounds = kRounds, .race_seconds = kSeconds, .object_folder = kept->path()});
    KILN_CHECK(measurer.ok(), measurer.status().ToString());
    const MeasureRequest request{.original = &candidates.original(), .scheduled = &point.replayed.program()};
    const MeasureResult result = measurer->Race({request}).front();
    KILN_CHECK(result.ok(), result.error);
    medians.push_back(MedianOf(result.samples).median * measurer->ReferenceRate());
    samples.push_back(static_cast<int>(result.samples.size()));
  }
  const auto [least, most] = std::minmax_element(medians.begin(), medians.end());
  const double middle = MedianOf(medians).median;
  double squares = 0;
  for (const double median : medians) squares += (median - middle) * (median - middle);
  return {{"variation", (*most - *least) / middle},
          {"deviation", std::sqrt(squares / kRuns) / middle},
          {"median", middle},
          {"medians", medians},
          {"samples", samples}};
}

Json Races() {
  const int64_t n = 320;
  const Program original = Matmul(n, 256, 256);
  const Program scheduled =
      TiledMatmul(original, CpuTarget(), {{80, 1, 4}, {1, 16, 16}, {1, 256}}, false).program();
  const auto slower = BuildChanged(scheduled, RepeatRows);
  KILN_CHECK(slower.ok() && *slower, "the outermost loop has no multiple of 20 iterations");
  Swapping swapping;
  int named = 0;
  std::vector<double> ratios;
  const MeasureRequest request{.original = &original, .scheduled = &scheduled};
  for (int race = 0; race < kRaces; ++race) {
    const size_t handicapped = race % 2;
    std::vector<std::string> code(2);
    code[handicapped] = **slower;
    swapping.Next(code);
    const auto results = swapping.measurer->Race(std::vector{request, request});
    for (const MeasureResult& result : results) KILN_CHECK(result.ok(), result.error);
    const double slow = MedianOf(results[handicapped].samples).median,
                 fast = MedianOf(results[1 - handicapped].samples).median;
    ratios.push_back(slow / fast);
    if (fast < slow) ++named;
  }
  return {{"named", named}, {"of", kRaces}, {"median_ratio", MedianOf(ratios).median}, {"ratios", ratios}};
}

void Report(const std::string& part, const std::string& name, const Options& o,
            const std::function<Json()>& measure) {
  const Json key = {{"part", part},
                    {"name", name},
                    {"kiln", KILN_VERSION},
                    {"machine", Host().fingerprint},
                    {"commit", o.commit}};
  std::optional<Json> result = FindResult(key, o.results);
  if (!result) {
    result = key;
    result->update(measure());
    AppendResult(*result, o.results);
  }
  Json shown = *result;
  for (const char* too_long : {"kiln", "machine", "medians", "samples", "ratios"}) shown.erase(too_long);
  std::printf("%s\n", shown.dump().c_str());
  std::fflush(stdout);
}

int Main(int argc, char** argv) {
  Options o;
  CommandLine line("measurement_bench", "Whether a measured time can be trusted");
  line.Add("--runs", &o.runs);
  line.Add("--race", &o.race);
  line.Add("--injections", &o.injections);
  line.Add("--injected", &o.injected, "Defects in all", {.least = 1});
  line.Add("--seed", &o.seed, "The first of the injections");
  line.Add("--results", &o.results, "Lines of JSON, appended");
  line.Add("--commit", &o.commit, "Stored with results");
  if (const auto exit_code = line.Parse(argc, argv)) return *exit_code;
  const bool all = !o.runs && !o.race && !o.injections;
  if (all || o.injections) {
    const int each = (o.injected + 7) / 8;
    for (const char* name : kEightOperators)
      Report(o.seed == 0 ? "injections" : absl::StrCat("injections from ", o.seed), name, o,
             [&] { return Injections(name, each, o.seed); });
  }
  if (all || o.runs) {
    for (const char* name : {"torch_matmul_1024", "torch_conv2d_depthwise", "torch_softmax"})
      Report("runs", name, o, [&] { return Runs(name); });
  }
  if (all || o.race) Report("race", "matmul_320x256x256", o, Races);
  return 0;
}

}  // namespace
}  // namespace kiln

int main(int argc, char** argv) { return kiln::Main(argc, argv); }
