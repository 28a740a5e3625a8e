// Tests long searches on the simulated machine: their memory, and the cost of training. Times are CPU times,
// so that other load does not matter.
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <ctime>

#include "modules/space.h"
#include "search/cost/models.h"
#include "search/database/memory_store.h"
#include "search/measure/simulated_machine.h"
#include "search/run/tune.h"
#include "testing/matmul.h"

namespace kiln {
namespace {

constexpr double kSecondsToMeasure = 6.0 / 64;  // a candidate, on a real machine

double CpuSeconds() {
  timespec now{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

// A cost model that records the time of its updates.
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

double PeakMebibytes() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<double>(usage.ru_maxrss) / 1024;
}

// The seconds of training in a search for a 1024^3 matmul.
double Train(int trials) {
  Target target;
  target.cores = 1;
  SimulatedMachine machine(target);
  const auto store = MakeMemoryStore();
  double training = 0;
  TuneOptions options;
  options.trials = trials;
  options.sketches.space = DefaultSpace(target);
  options.model = [&](int) -> absl::StatusOr<std::unique_ptr<CostModel>> {
    return std::make_unique<Timed>(MakeCostModel("trees").value(), &training);
  };
  const auto results = Tune({{"matmul", Matmul(1024, 1024, 1024), 0}},
                            ParseSpace(options.sketches.space).value(), target, options, machine, *store);
  EXPECT_TRUE(results.ok()) << results.status();
  if (results.ok()) EXPECT_EQ((*results)[0].trials, trials);
  return training;
}

TEST(LongSearch, TrainsForATwentiethOfItsTimeAtMost) {
  const double begin = CpuSeconds(), training = Train(1000);
  const double elapsed = CpuSeconds() - begin + 1000 * kSecondsToMeasure;
  std::printf("training %.1f s of %.1f s\n", training, elapsed);
  EXPECT_LT(training, 0.05 * elapsed);
}

TEST(LongSearch, OfTenThousandTrialsStaysUnderAGibibyte) {
  std::printf("training %.1f s", Train(10000));
  std::printf(", peak memory %.0f MiB\n", PeakMebibytes());
  EXPECT_LT(PeakMebibytes(), 1024);
}

}  // namespace
}  // namespace kiln
