#include "backends/gpu/driver/cuda_timing.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <utility>

#include "lang/base/median.h"

namespace kiln {
namespace {

constexpr double kSampleSeconds = 200e-6;  // long beside the resolution of events, half a microsecond
constexpr int kMostRuns = 1000;            // of a sample
constexpr size_t kMostCopies = 64;
constexpr int64_t kCaches = 3;  // bytes of all copies of a kernel's buffers, in multiples of the L2 cache
constexpr int kReferenceSamples = 5;

double Seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

// Returns the standard error of the median, divided by the median, for normally distributed samples. Returns 1 for
// fewer than two samples.
double ErrorOfMedian(const std::vector<double>& values) {
  const auto count = static_cast<double>(values.size());
  if (count < 2) return 1;
  double sum = 0, squares = 0;
  for (const double value : values) sum += value;
  for (const double value : values) squares += (value - sum / count) * (value - sum / count);
  return 1.2533 * std::sqrt(squares / (count - 1) / count) / Median(values);
}

double TimeReference(TimedCudaKernel& kernel) {
  std::vector<double> samples;
  for (int i = 0; i < kReferenceSamples; ++i) samples.push_back(kernel.Sample());
  return Median(samples);
}

bool Stops(const TimingPolicy& policy, const std::vector<double>& samples) {
  return std::any_of(policy.stop_rules.begin(), policy.stop_rules.end(), [&](const StopRule& rule) {
    return std::ssize(samples) == rule.after_runs &&
           *std::min_element(samples.begin(), samples.end()) > rule.over_seconds;
  });
}

// Returns whether there are enough samples of each kernel: policy.runs, and, if there is a target error, also so many
// that the error of each median is at most the target, or max_samples.
bool HasEnough(const TimingPolicy& policy, const CudaTimes& times) {
  const auto taken = static_cast<int>(times.samples[0].size());
  if (taken < policy.runs) return false;
  if (policy.target_error <= 0 || taken >= std::max(policy.max_samples, policy.runs)) return true;
  return std::all_of(times.samples.begin(), times.samples.end(), [&](const std::vector<double>& samples) {
    return ErrorOfMedian(samples) <= policy.target_error;
  });
}

}  // namespace

TimedCudaKernel::TimedCudaKernel(CudaDevice& gpu, const CudaKernel& kernel, uint64_t seed,
                                 int64_t least_bytes, int64_t most_bytes)
    : gpu_(gpu), kernel_(kernel) {
  int64_t bytes = 0;
  do {
    copies_.push_back(std::make_unique<CudaBuffers>(gpu, kernel.params(), kernel.launches().workspace_bytes));
    if (copies_.size() == 1) {
      copies_[0]->Fill({.seed = seed});
      kernel.Run(*copies_[0], true);
    } else {
      copies_.back()->FillLike(*copies_[0]);
    }
    bytes += copies_.back()->bytes();
  } while (gpu.ok() && bytes < least_bytes && bytes + copies_.back()->bytes() <= most_bytes &&
           copies_.size() < kMostCopies);
  gpu.Synchronize();
}

TimedCudaKernel::~TimedCudaKernel() { gpu_.Forget(captured_); }

TimedCudaKernel::TimedCudaKernel(TimedCudaKernel&& other) noexcept
    : gpu_(other.gpu_),
      kernel_(other.kernel_),
      copies_(std::move(other.copies_)),
      next_(other.next_),
      runs_(other.runs_),
      captured_(std::exchange(other.captured_, nullptr)) {}

void TimedCudaKernel::Run(int runs) {
  for (int i = 0; i < runs; ++i) {
    kernel_.Run(*copies_[next_], false);
    next_ = (next_ + 1) % copies_.size();
  }
}

void TimedCudaKernel::Prepare() {
  Sample();
  const double once = Sample();
  const auto copies = static_cast<int>(copies_.size());
  runs_ = std::clamp(static_cast<int>(std::ceil(kSampleSeconds / std::max(once, 1e-9))), 1, kMostRuns);
  if (runs_ == 1) return;
  runs_ = (runs_ + copies - 1) / copies * copies;
  captured_ = gpu_.Capture([&] { Run(runs_); });
  Sample();
}

double TimedCudaKernel::Sample() {
  gpu_.Mark(0);
  if (captured_ == nullptr)
    Run(runs_);
  else
    gpu_.Replay(captured_);
  gpu_.Mark(1);
  return gpu_.SecondsBetweenMarks() / runs_;
}

CudaTimes TimeOnGpu(CudaDevice& gpu, const std::vector<std::unique_ptr<CudaKernel>>& kernels,
                    const CudaKernel* reference, const RunRequest& request,
                    const std::function<void(size_t, const CudaBuffers&)>& check) {
  const TimingPolicy& policy = request.timing;
  const int64_t least = kCaches * gpu.machine().l2_bytes, most = request.limits.bytes;
  std::vector<TimedCudaKernel> timed;
  for (const auto& kernel : kernels)
    timed.emplace_back(gpu, *kernel, request.data_seed, least, most / std::ssize(kernels));
  std::optional<TimedCudaKernel> beside;
  if (reference != nullptr) {
    beside.emplace(gpu, *reference, request.data_seed, 0, most);
    beside->Prepare();
  }
  CudaTimes times{.samples = std::vector<std::vector<double>>(kernels.size())};
  for (TimedCudaKernel& kernel : timed) {
    for (int i = 1; i < policy.warmups; ++i) kernel.Sample();
    kernel.Prepare();
  }
  if (beside) times.reference_before = TimeReference(*beside);
  const double start = Seconds();
  for (int round = 0; gpu.ok(); ++round) {
    for (size_t i = 0; i < timed.size(); ++i) {
      const size_t k = round % 2 == 0 ? i : timed.size() - 1 - i;
      times.samples[k].push_back(timed[k].Sample());
    }
    times.lower_bound = Stops(policy, times.samples[0]);
    const double spent = Seconds() - start;
    if (times.lower_bound || HasEnough(policy, times) || spent > policy.max_seconds ||
        (policy.enough_seconds > 0 && spent > policy.enough_seconds))
      break;
  }
  if (beside) times.reference_after = TimeReference(*beside);
  for (size_t i = 0; i < timed.size() && gpu.ok(); ++i) check(i, timed[i].first());
  if (beside && request.reference_kernel->seconds > 0)
    times.slowdown =
        std::max(times.reference_before, times.reference_after) / request.reference_kernel->seconds;
  return times;
}

}  // namespace kiln
