#include "backends/runner/timing.h"

#include <sys/mman.h>
#include <sys/resource.h>
#include <time.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <cstring>
#include <optional>

#include "lang/base/median.h"
#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace kiln {
namespace {

constexpr double kShortestSample = 20e-6;  // far above the resolution and cost of the clock
constexpr double kSurelyLonger = 1e-3;     // a warm-up of this length needs no calibration
constexpr int kMaxRepeats = 1 << 20;
constexpr double kFillsCaches = 0.1;  // a run of this length fills the caches early enough
constexpr int64_t kCacheLine = 64;
constexpr int kReferenceRuns = 4;
constexpr double kQuiet = 1.1;    // slowdown of a quiet sample; another program on the core causes 1.5
constexpr double kNoLoss = 0.02;  // share of a sample that may be lost without effect
constexpr double kSlice =
    0.01;  // time slice of a scheduler: longer samples are always preempted if others want the core

template <size_t>
using Pointer = void*;

template <size_t... i>
int Call(void* function, void* const* arguments, std::index_sequence<i...>) {
  return reinterpret_cast<int (*)(Pointer<i>...)>(function)(arguments[i]...);
}

template <size_t count>
int CallWith(void* function, void* const* arguments) {
  return Call(function, arguments, std::make_index_sequence<count>());
}

template <size_t... count>
constexpr auto MakeCallers(std::index_sequence<count...>) {
  return std::array{&CallWith<count>...};
}

int CallWithTable(void* function, void* const* arguments) {
  return reinterpret_cast<int (*)(void* const*)>(function)(arguments);
}

constexpr auto kCallers = MakeCallers(std::make_index_sequence<kMaxKernelParams + 1>());

void Evict(const TimedKernel& timed) {
  for (const auto& [address, bytes] : timed.memory) {
    const char* line = static_cast<const char*>(address);
#if defined(__x86_64__)
    for (int64_t i = 0; i < bytes; i += kCacheLine) _mm_clflush(line + i);
#else
#error "cold caches need a cache line flush for this processor"
#endif
  }
#if defined(__x86_64__)
  _mm_mfence();
#endif
}

// Returns how often threads of this process have lost their core to another process so far.
int64_t Preemptions() {
  rusage usage = {};
  getrusage(RUSAGE_SELF, &usage);
  return usage.ru_nivcsw;
}

double SecondsOf(clockid_t clock) {
  timespec now = {};
  clock_gettime(clock, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

// True if the clock of a thread's processor time counts microseconds; some systems count ticks of several milliseconds.
bool ThreadClockIsFine() {
  static const bool fine = [] {
    for (int attempt = 0; attempt < 5; ++attempt) {
      const double wall = MonotonicSeconds(), cpu = SecondsOf(CLOCK_THREAD_CPUTIME_ID);
      while (SecondsOf(CLOCK_THREAD_CPUTIME_ID) == cpu && MonotonicSeconds() - wall < kShortestSample) {
      }
      if (SecondsOf(CLOCK_THREAD_CPUTIME_ID) - cpu < kShortestSample &&
          MonotonicSeconds() - wall < kShortestSample)
        return true;
    }
    return false;
  }();
  return fine;
}

struct Batch {
  double seconds = 0;
  double lost = -1;  // seconds in which another process had the core; negative if unknown
  int status = 0;
};

// Calls run() and computes Batch::lost, the seconds in which other processes had the core: the wall-clock time less the
// thread's processor time. If another thread of this process ran meanwhile, or the thread clock is coarse, `lost` stays
// negative, which means unknown.
template <typename Run>
Batch WithLost(Run run) {
  if (!ThreadClockIsFine()) return run();
  const double process = SecondsOf(CLOCK_PROCESS_CPUTIME_ID), thread = SecondsOf(CLOCK_THREAD_CPUTIME_ID);
  Batch batch = run();
  const double ran = SecondsOf(CLOCK_THREAD_CPUTIME_ID) - thread,
               all = SecondsOf(CLOCK_PROCESS_CPUTIME_ID) - process;
  if (all - ran < kNoLoss * batch.seconds) batch.lost = std::max(0.0, batch.seconds - ran);
  return batch;
}

template <typename Kernel>
Batch RunBatch(Kernel& kernel, int repeats) {
  Batch batch;
  const double start = MonotonicSeconds();
  for (int i = 0; i < repeats && batch.status == 0; ++i) batch.status = kernel.Run();
  batch.seconds = MonotonicSeconds() - start;
  return batch;
}

int RepeatsFor(TimedKernel& timed, const TimingPolicy& policy) {
  if (policy.cold_cache || timed.warm_up_seconds > kSurelyLonger) return 1;
  int repeats = 1;
  while (repeats < kMaxRepeats) {
    const Batch batch = RunBatch(timed, repeats);
    if (batch.status != 0 || batch.seconds >= kShortestSample) break;
    const double wanted = std::ceil(repeats * 1.2 * kShortestSample / std::max(batch.seconds, 1e-9));
    repeats = static_cast<int>(std::clamp(wanted, repeats * 2.0, double{kMaxRepeats}));
  }
  return repeats;
}

// Returns the relative standard error of the median, assuming a normal distribution between the quartiles.
double ErrorOfMedian(std::vector<double> seconds) {
  std::sort(seconds.begin(), seconds.end());
  const size_t n = seconds.size();
  const double median = Median(seconds);
  const double quartiles = seconds[n - 1 - n / 4] - seconds[n / 4];
  return median > 0 ? 0.93 * quartiles / median / std::sqrt(static_cast<double>(n)) : 0;
}

// Returns the mean time of 4 runs of the reference kernel, divided by its undisturbed time. An untimed run brings its
// code and data into the caches first. Returns 1 without a reference kernel.
double SlowdownNow(const TimedReference* reference) {
  if (reference == nullptr) return 1;
  reference->kernel.Run();
  return RunBatch(reference->kernel, kReferenceRuns).seconds / (kReferenceRuns * reference->seconds);
}

struct Sample {
  double seconds = 0;                      // divided by the slowdown, or as the clock says
  double slowdown = 1, most_slowdown = 1;  // mean and larger one of before and after
  int64_t preemptions = 0;
  int status = 0;
};

// Divides a sample by the mean slowdown of the reference kernel before and after it. If one of the two is
// more than twice the other, the reference kernel itself was interrupted. Then only the smaller one counts,
// because dividing by the larger one would make a slow kernel seem fast.
void Relate(double before, double after, Sample* sample) {
  const auto [least, most] = std::minmax(before, after);
  sample->slowdown = most > 2 * least ? least : (least + most) / 2;
  sample->most_slowdown = most;
  sample->seconds /= sample->slowdown;
}

Sample TakeSample(TimedKernel& timed, const TimedReference* reference, const TimingPolicy& policy, bool alone,
                  int repeats) {
  Sample sample;
  const int64_t preempted = Preemptions();
  const double before = SlowdownNow(reference);
  if (policy.cold_cache) Evict(timed);
  const double filled = !alone ? kFillsCaches : reference != nullptr ? kSurelyLonger : 0;
  if (!policy.cold_cache && timed.warm_up_seconds < filled) {
    sample.status = timed.Run();
    if (sample.status != 0) return sample;
  }
  const Batch batch = WithLost([&] { return RunBatch(timed, repeats); });
  const double after = SlowdownNow(reference);
  sample.status = batch.status;
  sample.preemptions = Preemptions() - preempted;
  if (batch.lost >= 0 && batch.lost < kNoLoss * batch.seconds) sample.preemptions = 0;
  const double lost = sample.preemptions > 0 ? std::max(0.0, batch.lost) : 0;
  sample.seconds = (batch.seconds - lost) / repeats;
  Relate(before, after, &sample);
  return sample;
}

// Returns the samples that are not above the median, in the order taken. A disturbance during a sample is not visible
// before or after it, and it can only make the sample slower.
std::vector<double> FasterHalf(const std::vector<double>& seconds) {
  const double median = Median(seconds);
  std::vector<double> half;
  for (const double one : seconds) {
    if (one <= median) half.push_back(one);
  }
  return half;
}

// Collects the samples of kernels that are timed in turns, all of them and the quiet ones. A sample counts as quiet if
// the reference kernel showed no disturbance (a slowdown above 1.1) around it, nor around the samples before and after
// it, since a core that is shared briefly shows in a neighbor.
class Samples {
 public:
  explicit Samples(size_t kernels) : all_(kernels), quiet_(kernels) {}

  void Add(size_t kernel, const Sample& sample, int most) {
    if (static_cast<int>(all_[kernel].size()) < most) all_[kernel].push_back(sample.seconds);
    const bool quiet = sample.most_slowdown <= kQuiet;
    if (!quiet && counted_ != nullptr) counted_->pop_back();
    counted_ = quiet && was_quiet_ ? &quiet_[kernel] : nullptr;
    if (counted_ != nullptr) counted_->push_back(sample.seconds);
    was_quiet_ = quiet;
  }

  bool AreQuiet(int least) const {
    return std::all_of(quiet_.begin(), quiet_.end(), [&](const std::vector<double>& seconds) {
      return static_cast<int>(seconds.size()) >= least;
    });
  }
  const std::vector<std::vector<double>>& all() const { return all_; }
  const std::vector<std::vector<double>>& quiet() const { return quiet_; }

 private:
  std::vector<std::vector<double>> all_, quiet_;
  std::vector<double>* counted_ = nullptr;  // the list whose last entry is the last sample
  bool was_quiet_ = true;
};

bool StopRuleHolds(const TimingPolicy& policy, const std::vector<double>& seconds) {
  const double fastest = *std::min_element(seconds.begin(), seconds.end());
  return std::any_of(policy.stop_rules.begin(), policy.stop_rules.end(), [&](const StopRule& rule) {
    return static_cast<int>(seconds.size()) >= rule.after_runs && fastest > rule.over_seconds;
  });
}

bool EnoughSamples(const TimingPolicy& policy, const Samples& samples, double spent, double passed) {
  const int rounds = static_cast<int>(samples.all().front().size());
  if (policy.enough_seconds > 0 && spent >= policy.enough_seconds) return true;
  if (rounds < policy.runs) return false;
  if (passed >= policy.max_seconds) return true;
  if (!samples.AreQuiet(policy.runs)) return false;
  if (policy.target_error <= 0 || samples.AreQuiet(policy.max_samples)) return true;
  return std::all_of(samples.quiet().begin(), samples.quiet().end(), [&](const std::vector<double>& seconds) {
    return ErrorOfMedian(FasterHalf(seconds)) <= policy.target_error;
  });
}

double Between(const timespec& from, const timespec& to) {
  return static_cast<double>(to.tv_sec - from.tv_sec) + 1e-9 * static_cast<double>(to.tv_nsec - from.tv_nsec);
}

constexpr int64_t kMaxCopies = 1024, kPage = 4096, kHugePage = 2 << 20;

int64_t BytesOf(const KernelParam& param) { return param.elements * DTypeBytes(param.dtype); }

bool IsCopied(const KernelParam& param) {
  return param.role == KernelParam::kConstant || param.role == KernelParam::kPrepared;
}

int64_t BytesOf(const KernelObject& kernel, KernelParam::Role role) {
  int64_t bytes = 0;
  for (const KernelParam& param : kernel.params)
    if (param.role == role) bytes += BytesOf(param);
  return bytes;
}

// Returns the size in bytes of a mapping that holds `copies` copies of an array.
int64_t BytesOfCopies(const KernelParam& param, int64_t copies) {
  return copies * (BytesOf(param) + 2 * kPage) + kHugePage;
}

// Returns the addresses of read-only copies of an array, each at the same offset within a page as the original; none if
// there is no memory. Asks for huge pages, as large parameters have them (backends/workers/guard.h): mapping small
// pages takes as long as timing a kernel.
std::vector<void*> CopiesOf(const KernelParam& param, const void* original, int64_t copies) {
  const auto offset = static_cast<int64_t>(reinterpret_cast<uintptr_t>(original) % kPage);
  const auto size = static_cast<size_t>(BytesOfCopies(param, copies));
  void* memory = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) return {};
  madvise(memory, size, MADV_HUGEPAGE);
  const int64_t stride = (offset + BytesOf(param) + kPage - 1) / kPage * kPage;
  std::vector<void*> all;
  for (int64_t i = 0; i < copies; ++i) {
    all.push_back(static_cast<char*>(memory) + i * stride + offset);
    std::memcpy(all.back(), original, static_cast<size_t>(BytesOf(param)));
  }
  mprotect(memory, size, PROT_READ);
  return all;
}

}  // namespace

decltype(BoundKernel::call) CallerFor(const KernelObject& kernel) {
  return kernel.takes_table ? &CallWithTable : kCallers[kernel.params.size()];
}

double MonotonicSeconds() { return SecondsOf(CLOCK_MONOTONIC); }

TimingOutcome TimeInTurns(const TimingPolicy& policy, const TimedReference* reference, Deadline give_up,
                          std::vector<TimedKernel>* kernels, std::atomic<int>* rounds) {
  TimingOutcome outcome;
  if (policy.runs <= 0) return outcome;
  std::vector<double> slowdowns;
  std::vector<int> repeats;
  for (TimedKernel& timed : *kernels) repeats.push_back(RepeatsFor(timed, policy));
  Samples samples(kernels->size());
  const int most = std::max(policy.runs, policy.max_samples);
  const double start = MonotonicSeconds();
  double spent = 0;
  bool backwards = false;
  do {
    for (size_t turn = 0; turn < kernels->size(); ++turn) {
      const size_t k = backwards ? kernels->size() - 1 - turn : turn;
      std::optional<Sample> kept;
      while (true) {
        const Sample sample = TakeSample((*kernels)[k], reference, policy, kernels->size() == 1, repeats[k]);
        if (sample.status != 0) return {.status = sample.status, .failed = static_cast<int>(k)};
        const double taken = sample.seconds * sample.slowdown * repeats[k];
        spent += taken;
        outcome.least_slowdown = std::min(outcome.least_slowdown, sample.most_slowdown);
        if (!kept || sample.preemptions < kept->preemptions) kept = sample;
        if (kept->preemptions == 0 || taken > kSlice || outcome.retaken == policy.retakes) break;
        ++outcome.retaken;
      }
      if (kept->preemptions > 0) ++(*kernels)[k].preempted;
      slowdowns.push_back(kept->slowdown);
      samples.Add(k, *kept, most);
      std::vector<double>& raw_samples = (*kernels)[k].raw_samples;
      raw_samples.insert(raw_samples.end(), {kept->seconds * kept->slowdown, kept->most_slowdown});
    }
    ++*rounds;
    backwards = !backwards;
    outcome.lower_bound = StopRuleHolds(policy, samples.all().front());
  } while (!outcome.lower_bound && !EnoughSamples(policy, samples, spent, MonotonicSeconds() - start) &&
           std::chrono::steady_clock::now() < give_up);
  outcome.slowdown = Median(slowdowns, 1);
  outcome.quiet = reference != nullptr && samples.AreQuiet((policy.runs + 1) / 2);  // else use all
  for (size_t k = 0; k < kernels->size(); ++k)
    (*kernels)[k].seconds = outcome.quiet ? FasterHalf(samples.quiet()[k]) : samples.all()[k];
  return outcome;
}

CallProfile RunProfiled(BoundKernel kernel, int calls, int runs, Deadline give_up) {
  CallProfile profile;
  std::vector<timespec> stamps(static_cast<size_t>(calls) + 1);
  kernel.arguments.push_back(stamps.data());
  do {
    profile.status = kernel.Run();
    if (profile.status != 0) return profile;
    std::vector<double>& seconds = profile.call_seconds.emplace_back();
    for (size_t c = 0; c + 1 < stamps.size(); ++c) seconds.push_back(Between(stamps[c], stamps[c + 1]));
  } while (static_cast<int>(profile.call_seconds.size()) < runs &&
           std::chrono::steady_clock::now() < give_up);
  return profile;
}

int64_t CopiesOfConstants(const KernelObject& kernel, int64_t rotated_bytes) {
  if (kernel.product || rotated_bytes <= 0) return 1;
  int64_t read = BytesOf(kernel, KernelParam::kPrepared);
  if (read == 0) read = BytesOf(kernel, KernelParam::kConstant);
  if (read == 0) return 1;
  return std::clamp<int64_t>((rotated_bytes + read - 1) / read, 1, kMaxCopies);
}

int64_t BytesOfCopies(const KernelObject& kernel, int64_t rotated_bytes) {
  const int64_t more = CopiesOfConstants(kernel, rotated_bytes) - 1;
  int64_t bytes = 0;
  for (const KernelParam& param : kernel.params)
    if (IsCopied(param)) bytes += BytesOfCopies(param, more);
  return bytes;
}

std::vector<std::vector<void*>> CopyConstants(const KernelObject& kernel, const std::vector<void*>& arguments,
                                              int64_t rotated_bytes) {
  const int64_t more = CopiesOfConstants(kernel, rotated_bytes) - 1;
  if (more == 0) return {};
  std::vector<std::vector<void*>> all(static_cast<size_t>(more) + 1, arguments);
  for (size_t i = 0; i < kernel.params.size(); ++i) {
    if (!IsCopied(kernel.params[i])) continue;
    const std::vector<void*> copies = CopiesOf(kernel.params[i], arguments[i], more);
    if (copies.empty()) return {};
    for (size_t c = 0; c < copies.size(); ++c) all[c + 1][i] = copies[c];
  }
  return all;
}

}  // namespace kiln
