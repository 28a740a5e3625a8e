// Measures ratios and rates that must not fall below a floor:
//
//   floors_bench [--seed 0] [--results floors.json] NAME[=FLOOR]...
//
//   peak         a matmul of random shape after 64 trials: its share of the machine's FMA peak
//   by_hand      a matmul without a schedule: its time over that of a schedule by hand
//   training     the CPU time of a search of 1,000 trials, plus 94 ms a trial as if it were measured, over the CPU time
//                of its training
//   hashes       hashes of a tiled matmul a second
//   instances    instances of a block that the interpreter runs a second
//   requests     requests with a million floats that a runner serves a second
//
// One thread. Prints each and appends it to the results as a line of JSON. Fails if a FLOOR is not reached.
// --seed draws the shape and the trials.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <map>
#include <random>

#include "backends/cpu/targets.h"
#include "backends/measure/measurer.h"
#include "backends/runner/pool.h"
#include "backends/runner/timing.h"
#include "backends/vendor/paired_timing.h"
#include "bench/fma_probe.h"
#include "bench/searches.h"
#include "bench/support/command_line.h"
#include "bench/support/json_results.h"
#include "bench/tune_alone.h"
#include "lang/analysis/cost.h"
#include "lang/reference/interpreter.h"
#include "lang/text/hash.h"
#include "search/cost/models.h"
#include "search/database/memory_store.h"
#include "testing/goto_matmul.h"

namespace kiln {
namespace {

constexpr int kTrials = 64, kSearchTrials = 1000, kHashes = 1000, kRequests = 50;
constexpr double kSecondsToMeasure = 6.0 / 64;  // a candidate, on a real machine

double Fastest(const std::vector<double>& seconds) {
  return *std::min_element(seconds.begin(), seconds.end());
}

double CpuSeconds() {
  timespec now{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

// Returns the share of the FMA peak that a tuned matmul reaches. Its extents are drawn: multiples of 8 from 128 to 512.
absl::StatusOr<double> ShareOfPeak(uint64_t seed) {
  std::mt19937_64 random(seed);
  std::uniform_int_distribution<int64_t> eighths(16, 64);
  const int64_t m = 8 * eighths(random), n = 8 * eighths(random), k = 8 * eighths(random);
  std::printf("%ld x %ld x %ld, --seed %lu\n", m, n, k, seed);
  auto measurer = CpuMeasurer::Start();
  if (!measurer.ok()) return measurer.status();
  const auto tuned = TuneAlone(MatmulSource(m, n, k), {.trials = kTrials, .seed = seed});
  if (!tuned.ok()) return tuned.status();
  const auto kernel = BuildKernel(tuned->original, tuned->best.program, measurer->builders());
  if (!kernel.ok()) return kernel.status();
  const auto probe = MakeFmaProbe();
  if (!probe.ok()) return probe.status();
  const auto ran = RunAlone(
      {.kernel = *kernel, .peers = {probe->kernel}, .timing = {.runs = 20}, .limits = {.seconds = 600}});
  if (!ran.ok()) return ran.status();
  return Flops(tuned->original) / Fastest(ran->seconds) / (probe->flops / Fastest(ran->peer_seconds[0]));
}

absl::StatusOr<double> GainByHand(uint64_t) {
  const Program original = Matmul(512, 512, 512);
  auto measurer = CpuMeasurer::Start();
  if (!measurer.ok()) return measurer.status();
  const auto plain = BuildKernel(original, original, measurer->builders());
  if (!plain.ok()) return plain.status();
  const auto by_hand =
      BuildKernel(original, GotoMatmul(512, 512, 512, {64, 4, 256, 16, 256}, true), measurer->builders());
  if (!by_hand.ok()) return by_hand.status();
  const auto ran =
      RunAlone({.kernel = *by_hand, .peers = {*plain}, .timing = {.runs = 20}, .limits = {.seconds = 600}});
  if (!ran.ok()) return ran.status();
  return RatioOf(ran->peer_seconds[0], ran->seconds).median;
}

// A cost model that adds up the CPU time of its updates.
class Timed final : public CostModel {
 public:
  Timed(std::unique_ptr<CostModel> model, double* seconds) : model_(std::move(model)), seconds_(seconds) {}
  absl::StatusOr<std::vector<double>> Predict(const FeatureBatch& p) const override {
    return model_->Predict(p);
  }
  bool Informed() const override { return model_->Informed(); }
  absl::Status Update(const FeatureBatch& programs, absl::Span<const TrainingLabel> labels) override {
    const double begin = CpuSeconds();
    const absl::Status status = model_->Update(programs, labels);
    *seconds_ += CpuSeconds() - begin;
    return status;
  }
  absl::StatusOr<std::string> Save() const override { return model_->Save(); }
  absl::Status Load(absl::string_view bytes) override { return model_->Load(bytes); }

 private:
  std::unique_ptr<CostModel> model_;
  double* seconds_;
};

absl::StatusOr<double> SearchOverTraining(uint64_t seed) {
  double training = 0;
  TuneOptions options;
  options.trials = kSearchTrials;
  options.seed = seed;
  options.model = [&](int) -> absl::StatusOr<std::unique_ptr<CostModel>> {
    return std::make_unique<Timed>(MakeCostModel("trees").value(), &training);
  };
  const Machine machine = Machine::Simulated({});
  const auto store = MakeMemoryStore();
  const double begin = CpuSeconds();
  Searched("matmul", Matmul(1024, 1024, 1024), machine, options, *store);
  return (CpuSeconds() - begin + kSearchTrials * kSecondsToMeasure) / training;
}

absl::StatusOr<double> HashesASecond(uint64_t) {
  Schedule s = Scheduled(Matmul(64, 64, 64));
  for (const Loop loop : s.GetLoops(s.GetBlock("matmul"))) s.Split(loop, {2, 4, 2, 4});
  if (!s.ok()) return s.status();
  uint64_t sum = 0;
  const double begin = CpuSeconds();
  for (int i = 0; i < kHashes; ++i) sum += HashOf(s.program()).low;
  const double seconds = CpuSeconds() - begin;
  KILN_CHECK(sum != 0, "the hash of a program is zero");
  return kHashes / seconds;
}

absl::StatusOr<double> InstancesASecond(uint64_t) {
  constexpr int kExtent = 64;
  const Program p = Matmul(kExtent, kExtent, kExtent);
  const std::string zeros(kExtent * kExtent * sizeof(float), '\0');
  const double begin = CpuSeconds();
  const auto out = kiln::Run(p, {zeros, zeros});
  const double seconds = CpuSeconds() - begin;
  if (!out.ok()) return out.status();
  return kExtent * kExtent * kExtent / seconds;
}

absl::StatusOr<double> RequestsASecond(uint64_t) {
  auto measurer = CpuMeasurer::Start();
  if (!measurer.ok()) return measurer.status();
  const Program program = Matmul(1024, 1024, 1);
  const auto kernel = BuildKernel(program, program, measurer->builders());
  if (!kernel.ok()) return kernel.status();
  const auto pool = RunnerPool::Start({});
  if (!pool.ok()) return pool.status();
  const RunRequest request{.kernel = *kernel, .timing = {.runs = 3}};
  const double begin = MonotonicSeconds();
  for (int i = 0; i < kRequests; ++i) {
    const RunResult result = (*pool)->RunAll({request}).front();
    if (result.status != RunStatus::kOk) return absl::InternalError(result.detail);
  }
  return kRequests / (MonotonicSeconds() - begin);
}

// Measures NAME or NAME=FLOOR, and prints and returns the value. kNotFound if there is no such measurement.
absl::StatusOr<Json> Measure(const std::string& argument, uint64_t seed) {
  static const std::map<std::string, std::function<absl::StatusOr<double>(uint64_t seed)>> kMeasurements = {
      {"peak", ShareOfPeak},     {"by_hand", GainByHand},         {"training", SearchOverTraining},
      {"hashes", HashesASecond}, {"instances", InstancesASecond}, {"requests", RequestsASecond}};
  const size_t at = argument.find('=');
  const std::string name = argument.substr(0, at);
  const double floor = at == std::string::npos ? 0 : std::strtod(argument.c_str() + at + 1, nullptr);
  const auto measurement = kMeasurements.find(name);
  if (measurement == kMeasurements.end()) return absl::NotFoundError("there is no such measurement");
  const absl::StatusOr<double> value = measurement->second(seed);
  if (!value.ok()) return value.status();
  std::printf("%-10s %12.2f%s\n", name.c_str(), *value,
              *value < floor ? absl::StrCat("  MISSED, wanted ", floor).c_str() : "");
  std::fflush(stdout);
  return Json{{"name", name}, {"value", *value}, {"floor", floor}};
}

int Main(int argc, char** argv) {
  uint64_t seed = 0;
  std::string results = "floors.json", commit;
  std::vector<std::string> names;
  CommandLine line("floors_bench", "Ratios and rates that must not fall below a floor");
  line.Add("--seed", &seed, "Of all random choices");
  line.Add("--results", &results, "Lines of JSON, to which results are appended");
  line.Add("--commit", &commit, "Stored with results");
  line.Add("NAME", &names, "NAME, or NAME=FLOOR", {.required = true});
  if (const auto exit_code = line.Parse(argc, argv)) return *exit_code;
  bool good = true;
  for (const std::string& argument : names) {
    const auto result = Measure(argument, seed);
    if (!result.ok()) {
      std::fprintf(stderr, "%s: %s\n", argument.c_str(), result.status().ToString().c_str());
      good = false;
      continue;
    }
    Json line = {{"machine", Host().fingerprint}, {"commit", commit}, {"seed", seed}};
    line.update(*result);
    AppendResult(line, results);
    good = good && line["value"] >= line["floor"];
  }
  return good ? 0 : 1;
}

}  // namespace
}  // namespace kiln

int main(int argc, char** argv) { return kiln::Main(argc, argv); }
