#include "backends/runner/child.h"

#include <dlfcn.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <map>
#include <tuple>

#include "absl/strings/str_cat.h"
#include "backends/runner/check_kernel.h"
#include "backends/runner/compare.h"
#include "backends/runner/data.h"
#include "backends/runner/loaded.h"
#include "backends/runner/protocol.h"
#include "backends/runner/reference_file.h"
#include "backends/runner/stress_data.h"
#include "backends/runner/threads.h"
#include "backends/runner/timing.h"
#include "backends/workers/frames.h"
#include "backends/workers/heap_guard.h"
#include "backends/workers/limits.h"
#include "backends/workers/write_all.h"

namespace kiln {
namespace {

constexpr double kShareForRuns = 0.8;  // of limits.seconds; after that, no further round of timing begins

int64_t Bytes(const KernelParam& param) { return param.elements * DTypeBytes(param.dtype); }

bool IsFilled(KernelParam::Role role) {
  return role == KernelParam::kInput || role == KernelParam::kConstant || role == KernelParam::kScalar;
}

class Child {
 public:
  Child(const RunRequest& request, RunNote* note)
      : request_(request),
        note_(note),
        give_up_(SecondsFromNow(kShareForRuns * request.limits.seconds)),
        timed_(1 + request.peers.size()),
        kernels_(timed_ + (request.reference_kernel ? 1 : 0)) {
    for (size_t k = 0; k < timed_; ++k) {
      kernels_[k].object = k == 0 ? &request.kernel : &request.peers[k - 1];
      kernels_[k].name = k == 0 ? "" : absl::StrCat("peer ", k - 1, ": ");
    }
    if (request.reference_kernel) {
      kernels_.back().object = &request.reference_kernel->kernel;
      kernels_.back().name = "the reference kernel: ";
      kernels_.back().compared = false;
    }
  }

  RunResult Run() {
    constexpr MaybeFailure (Child::* kSteps[])() = {
        &Child::Check,      &Child::OpenFiles,  &Child::MakeBuffers, &Child::StartThreads,   &Child::Limit,
        &Child::Load,       &Child::RunPrepare, &Child::WarmUp,      &Child::WriteReference, &Child::Time,
        &Child::RunProfile, &Child::CheckAgain, &Child::RunWide};
    for (const auto step : kSteps) {
      if (MaybeFailure failure = (this->*step)()) {
        result_.status = failure->status;
        result_.detail = failure->detail;
        if (failure->status == RunStatus::kNonZeroStatus && note_->allocation_refused) {
          result_.status = RunStatus::kOutOfMemory;
          result_.detail += ", after an allocation was refused";
        }
        return std::move(result_);
      }
    }
    result_.status = RunStatus::kOk;
    return std::move(result_);
  }

 private:
  MaybeFailure Check() {
    const RunLimits& limits = request_.limits;
    if (!(limits.seconds > 0 && limits.seconds < 1e6 && limits.bytes > 0)) {
      return Failure{.detail = "limits must be positive, and below a million seconds"};
    }
    if (request_.reference_kernel && !(request_.reference_kernel->seconds > 0))
      return Failure{.detail = "the time of the reference kernel must be positive"};
    for (const LoadedKernel& kernel : kernels_) {
      if (const auto problem = CheckKernel(*kernel.object, limits.bytes))
        return Failure{problem->status, kernel.name + problem->detail};
    }
    return std::nullopt;
  }

  MaybeFailure OpenFiles() {
    for (LoadedKernel& kernel : kernels_) {
      const std::string& bytes = kernel.object->shared_object;
      kernel.file = memfd_create("kernel", MFD_CLOEXEC);
      if (kernel.file < 0 || !WriteAll(kernel.file, bytes)) {
        return Failure{.detail = absl::StrCat("no memory file: ", std::strerror(errno))};
      }
    }
    for (const KernelParam& param : request_.kernel.params) {
      if (param.role == KernelParam::kOutput) output_bytes_ += Bytes(param);
    }
    const StressInputs& stress = request_.stress;
    for (std::string error :
         {OpenToWrite(request_.write_reference_to, &written_),
          OpenToWrite(stress.write_reference_to, &stress_written_),
          MapReference(request_.reference, output_bytes_, &reference_),
          MapReference(stress.reference, stress.sets * output_bytes_, &stress_reference_)}) {
      if (!error.empty()) return Failure{.detail = std::move(error)};
    }
    return std::nullopt;
  }

  MaybeFailure Limit() {
    int64_t copies = 0;
    for (size_t k = 0; k < timed_; ++k)
      copies += BytesOfCopies(*kernels_[k].object, request_.timing.rotated_bytes);
    SetLimits(request_.limits.seconds, request_.limits.bytes - param_bytes_ + copies,
              std::max(written_ < 0 ? 0 : output_bytes_,
                       stress_written_ < 0 ? 0 : request_.stress.sets * output_bytes_));
    return std::nullopt;
  }

  MaybeFailure MakeBuffers() {
    using Key = std::tuple<size_t, std::string, int64_t, int, std::string, DataRange, const LoadedKernel*>;
    std::map<Key, GuardedBuffer*> shared;
    for (LoadedKernel& kernel : kernels_) {
      const auto& params = kernel.object->params;
      for (size_t i = 0; i < params.size(); ++i) {
        const KernelParam& param = params[i];
        const LoadedKernel* owner = param.role == KernelParam::kPrepared ? &kernel : nullptr;
        const Key key(i, param.dtype, param.elements, param.role, param.data, param.range, owner);
        GuardedBuffer*& buffer = shared[key];
        if (buffer == nullptr) {
          param_bytes_ += Bytes(param);
          auto made = param_bytes_ > request_.limits.bytes
                          ? nullptr
                          : GuardedBuffer::Make(static_cast<int>(i), Bytes(param));
          if (made == nullptr) {
            return Failure{RunStatus::kOutOfMemory,
                           absl::StrCat(kernel.name, "no memory for parameter ", i, " of ", Bytes(param),
                                        " bytes within ", request_.limits.bytes)};
          }
          buffer = made.get();
          buffers_.push_back(std::move(made));
          Fill(param, static_cast<int>(i), buffer);
        }
        kernel.buffers.push_back(buffer);
        kernel.timed.kernel.arguments.push_back(buffer->data());
        kernel.timed.memory.emplace_back(buffer->data(), buffer->bytes());
      }
      kernel.timed.kernel.call = CallerFor(*kernel.object);
      kernel.emulation = EmulationOf(*kernel.object);
    }
    InstallFaultHandler(&buffers_, note_);
    return std::nullopt;
  }

  void Fill(const KernelParam& param, int position, GuardedBuffer* buffer) {
    if (param.role == KernelParam::kOutput) return;  // WarmUp fills outputs with a pattern
    if (!IsFilled(param.role)) {
      FillPoison(buffer->data(), buffer->bytes());
      return;
    }
    if (param.data.empty()) {
      FillInput(request_.data_seed, position, param.dtype, 0, param.elements, buffer->data(), param.range);
    } else {
      std::memcpy(buffer->data(), param.data.data(), param.data.size());
    }
    buffer->Protect();
  }

  // Starts and pins the pool's threads if there are several, or fails. Limits come later: they are for candidates only.
  MaybeFailure StartThreads() {
    if (request_.threads < 1 || request_.threads > kMaxThreads)
      return Failure{.detail = absl::StrCat(request_.threads, " threads; there are 1 to ", kMaxThreads)};
    sched_getaffinity(0, sizeof cores_, &cores_);
    if (request_.threads == 1) return std::nullopt;
    const int started = kiln::StartThreads(request_.threads);
    if (started == request_.threads) return std::nullopt;
    return Failure{.detail = absl::StrCat("only ", started, " of ", request_.threads, " threads run")};
  }

  MaybeFailure Load() {
    RestrictSystemCalls();
    note_->phase = RunPhase::kLoad;
    for (LoadedKernel& kernel : kernels_) {
      if (kernel.object->product) {
        if (MaybeFailure failure = LoadProduct(kernel)) return failure;
        continue;
      }
      void* library = dlopen(absl::StrCat("/proc/self/fd/", kernel.file).c_str(), RTLD_NOW | RTLD_LOCAL);
      if (library == nullptr)
        return Failure{.detail = absl::StrCat(kernel.name, "not loadable: ", dlerror())};
      if (MaybeFailure failure =
              Find(library, kernel.name, kernel.object->symbol, &kernel.timed.kernel.function))
        return failure;
      if (kernel.object->threads_symbol) {
        void* set = nullptr;
        if (MaybeFailure failure = Find(library, kernel.name, *kernel.object->threads_symbol, &set))
          return failure;
        reinterpret_cast<void (*)(int)>(set)(request_.threads);
      }
      if (&kernel == &kernels_.front() && request_.profile) {
        if (MaybeFailure failure = Find(library, kernel.name, request_.profile->symbol, &profiled_))
          return failure;
      }
      if (!kernel.object->prepare_symbol) continue;
      if (MaybeFailure failure = Find(library, kernel.name, *kernel.object->prepare_symbol, &kernel.prepare))
        return failure;
    }
    return std::nullopt;
  }

  MaybeFailure LoadProduct(LoadedKernel& kernel) const {
    std::string error;
    kernel.product = BoundProduct::Make(*kernel.object->product, kernel.timed.kernel.arguments,
                                        request_.threads, cores_, &error);
    if (kernel.product == nullptr)
      return Failure{.detail = absl::StrCat(kernel.name, "not loadable: ", error)};
    kernel.timed.kernel = kernel.product->Kernel();
    return std::nullopt;
  }

  static MaybeFailure Find(void* library, const std::string& name, const std::string& symbol,
                           void** function) {
    *function = dlsym(library, symbol.c_str());
    if (*function != nullptr) return std::nullopt;
    return Failure{.detail = absl::StrCat(name, "the shared object has no symbol '", symbol, "'")};
  }

  MaybeFailure RunPrepare() {
    note_->phase = RunPhase::kPrepare;
    for (LoadedKernel& kernel : kernels_) {
      if (kernel.prepare == nullptr) continue;
      const double start = MonotonicSeconds();
      if (kernel.emulation) {
        if (MaybeFailure failure = kernel.PrepareEmulated()) return failure;
      } else if (const int status = kernel.Prepare().Run(); status != 0) {
        return NonZero(kernel, "prepare", status);
      }
      if (&kernel == &kernels_.front()) result_.prepare_seconds = MonotonicSeconds() - start;
      for (size_t i = 0; i < kernel.buffers.size(); ++i) {
        if (kernel.object->params[i].role == KernelParam::kPrepared) kernel.buffers[i]->Protect();
      }
    }
    return CheckCanaries();
  }

  MaybeFailure WarmUp() {
    note_->phase = RunPhase::kWarmup;
    for (LoadedKernel& kernel : kernels_) {
      bool allocates = false;
      PoisonOutputs(kernel);
      if (kernel.emulation) {
        if (MaybeFailure failure = kernel.RunEmulated()) return failure;
      } else {
        const HeapGuard guard(kernel.object->heap_alignment);
        if (MaybeFailure failure = WarmUpOnce(kernel)) return failure;
        if (MaybeFailure failure = CheckTemporaries(kernel, guard)) return failure;
        allocates = guard.Used();
      }
      if (MaybeFailure failure = CheckCanaries()) return failure;
      if (MaybeFailure failure = CompareOutputs(kernel)) return failure;
      const int warmups = kernel.emulation ? 0 : std::max(0, request_.timing.warmups - 1) + allocates;
      for (int more = warmups; more > 0; --more) {
        if (MaybeFailure failure = WarmUpOnce(kernel)) return failure;
      }
    }
    return std::nullopt;
  }

  static MaybeFailure WarmUpOnce(LoadedKernel& kernel) {
    const double start = MonotonicSeconds();
    if (const int status = kernel.timed.kernel.Run(); status != 0)
      return NonZero(kernel, "the kernel", status);
    kernel.timed.warm_up_seconds = MonotonicSeconds() - start;
    return std::nullopt;
  }

  static void PoisonOutputs(const LoadedKernel& kernel) {
    for (size_t i = 0; i < kernel.buffers.size(); ++i) {
      if (kernel.object->params[i].role != KernelParam::kOutput) continue;
      FillPoison(kernel.buffers[i]->data(), kernel.buffers[i]->bytes());
    }
  }

  static Failure NonZero(const LoadedKernel& kernel, const char* what, int status) {
    return {RunStatus::kNonZeroStatus, absl::StrCat(kernel.name, what, " returned ", status)};
  }

  MaybeFailure WriteReference() {
    if (written_ < 0) return std::nullopt;
    for (size_t i = 0; i < kernels_.front().buffers.size(); ++i) {
      if (request_.kernel.params[i].role != KernelParam::kOutput) continue;
      const GuardedBuffer& output = *kernels_.front().buffers[i];
      if (!WriteAll(written_, {static_cast<const char*>(output.data()), static_cast<size_t>(output.bytes())}))
        return Failure{.detail = CannotWrite(request_.write_reference_to)};
    }
    return std::nullopt;
  }

  MaybeFailure Time() {
    note_->phase = RunPhase::kTiming;
    std::vector<TimedKernel> timed;
    for (size_t k = 0; k < timed_; ++k) {
      timed.push_back(kernels_[k].timed);
      timed[k].rotated =
          CopyConstants(*kernels_[k].object, timed[k].kernel.arguments, request_.timing.rotated_bytes);
    }
    TimedReference reference;
    if (request_.reference_kernel)
      reference = {kernels_.back().timed.kernel, request_.reference_kernel->seconds};
    const TimingOutcome outcome = TimeInTurns(
        request_.timing, request_.reference_kernel ? &reference : nullptr, give_up_, &timed, &note_->samples);
    if (outcome.status != 0)
      return NonZero(kernels_[static_cast<size_t>(outcome.failed)], "the kernel", outcome.status);
    result_.lower_bound = outcome.lower_bound;
    result_.quiet = outcome.quiet;
    result_.slowdown = outcome.slowdown;
    result_.least_slowdown = outcome.least_slowdown;
    result_.retaken = outcome.retaken;
    result_.preempted = timed.front().preempted;
    result_.seconds = timed.front().seconds;
    result_.raw_samples = timed.front().raw_samples;
    for (size_t k = 1; k < timed.size(); ++k) {
      result_.peer_seconds.push_back(timed[k].seconds);
      result_.peer_raw_samples.push_back(timed[k].raw_samples);
      result_.peer_preempted.push_back(timed[k].preempted);
    }
    return std::nullopt;
  }

  MaybeFailure RunProfile() {
    if (profiled_ == nullptr) return std::nullopt;
    const LoadedKernel& kernel = kernels_.front();
    CallProfile profile = RunProfiled({kernel.timed.kernel.call, profiled_, kernel.timed.kernel.arguments},
                                      request_.profile->calls, request_.profile->runs, give_up_);
    if (profile.status != 0) return NonZero(kernel, "the kernel", profile.status);
    result_.call_seconds = std::move(profile.call_seconds);
    return std::nullopt;
  }

  // After the timing, if there was one, compares the outputs with the reference again and checks the guards, because a
  // kernel may be right only the first time. With peers, which share the output buffers, each kernel first runs again.
  MaybeFailure CheckAgain() {
    if (request_.timing.runs <= 0) return std::nullopt;
    for (const LoadedKernel& kernel : kernels_) {
      if (timed_ > 1) {
        if (const int status = kernel.timed.kernel.Run(); status != 0)
          return NonZero(kernel, "the kernel", status);
      }
      if (MaybeFailure failure = CompareOutputs(kernel)) return failure;
    }
    return CheckCanaries();
  }

  MaybeFailure RunWide() {
    if (result_.lower_bound) return std::nullopt;
    for (int set = 0; set < request_.stress.sets; ++set) {
      if (stress_written_ >= 0) {
        if (MaybeFailure failure = WriteWide(set)) return failure;
      }
      if (stress_reference_ == nullptr) continue;
      FillStress(set, 1);
      for (const LoadedKernel& kernel : kernels_) {
        if (!kernel.compared) continue;
        if (const int status = kernel.timed.kernel.Run(); status != 0)
          return NonZero(kernel, "the kernel", status);
        if (MaybeFailure failure = CompareWide(kernel, stress_reference_ + set * output_bytes_))
          return failure;
      }
    }
    return CheckCanaries();
  }

  void FillStress(int set, double scale) {
    for (const LoadedKernel& kernel : kernels_) {
      if (!kernel.compared) continue;
      for (size_t i = 0; i < kernel.buffers.size(); ++i) {
        const KernelParam& param = kernel.object->params[i];
        if (StressData::Fills(param))
          stress_data_.Fill(static_cast<int>(i), param, set, scale, kernel.buffers[i]);
      }
    }
  }

  MaybeFailure WriteWide(int set) {
    const LoadedKernel& kernel = kernels_.front();
    std::vector<std::string> outputs(kernel.buffers.size());
    for (const double scale : {1.0, 0.8, 1.25}) {
      FillStress(set, scale);
      if (const int status = kernel.timed.kernel.Run(); status != 0)
        return NonZero(kernel, "the kernel", status);
      for (size_t i = 0; i < outputs.size(); ++i) {
        const KernelParam& param = kernel.object->params[i];
        if (param.role != KernelParam::kOutput) continue;
        const auto* output = static_cast<const char*>(kernel.buffers[i]->data());
        if (scale == 1) outputs[i].assign(output, static_cast<size_t>(Bytes(param)));
        WantFiniteWhere(param.dtype, output, outputs[i].data(), param.elements);
      }
    }
    for (const std::string& output : outputs) {
      if (!WriteAll(stress_written_, output))
        return Failure{.detail = CannotWrite(request_.stress.write_reference_to)};
    }
    return std::nullopt;
  }

  static MaybeFailure CompareWide(const LoadedKernel& kernel, const char* wanted) {
    for (size_t i = 0; i < kernel.buffers.size(); ++i) {
      const KernelParam& param = kernel.object->params[i];
      if (param.role != KernelParam::kOutput) continue;
      const void* found = kernel.buffers[i]->data();
      const int64_t missed = FirstMissedFinite(param.dtype, found, wanted, param.elements);
      if (missed >= 0) {
        return Failure{RunStatus::kWrongResult,
                       absl::StrCat(kernel.name, "parameter ", i, ": element ", missed, " is ",
                                    LoadElement(param.dtype, found, missed), ", wanted ",
                                    LoadElement(param.dtype, wanted, missed),
                                    " or any other number, of inputs that lie far apart")};
      }
      wanted += Bytes(param);
    }
    return std::nullopt;
  }

  static MaybeFailure CheckTemporaries(const LoadedKernel& kernel, const HeapGuard& guard) {
    const int64_t bytes = guard.Violated();
    if (bytes < 0) return std::nullopt;
    return Failure{RunStatus::kGuardViolated,
                   absl::StrCat(kernel.name, "wrote next to a temporary, outside of its ", bytes, " bytes")};
  }

  MaybeFailure CheckCanaries() {
    for (const LoadedKernel& kernel : kernels_) {
      for (size_t i = 0; i < kernel.buffers.size(); ++i) {
        if (kernel.buffers[i]->CanaryIntact()) continue;
        return Failure{RunStatus::kGuardViolated,
                       absl::StrCat(kernel.name, "wrote next to parameter ", i, ", outside of its ",
                                    kernel.buffers[i]->bytes(), " bytes")};
      }
    }
    return std::nullopt;
  }

  MaybeFailure CompareOutputs(const LoadedKernel& kernel) {
    if (reference_ == nullptr || !kernel.compared) return std::nullopt;
    const char* wanted = reference_;
    for (size_t i = 0; i < kernel.buffers.size(); ++i) {
      const KernelParam& param = kernel.object->params[i];
      if (param.role != KernelParam::kOutput) continue;
      if (Bytes(param) > reference_ + output_bytes_ - wanted) {
        return Failure{.detail = absl::StrCat(kernel.name, "its outputs are larger than the reference")};
      }
      const auto* const outputs = static_cast<const char*>(kernel.buffers[i]->data());
      const bool partial = kernel.is_partial;
      const std::string merged =
          partial ? WantedIfUnwritten(param.dtype, outputs, wanted, param.elements) : "";
      if (partial && merged.empty() && param.elements > 0)
        return Failure{RunStatus::kWrongResult, absl::StrCat("parameter ", i, ": no element was written")};
      const Comparison found = CompareArrays(param.dtype, partial ? merged.data() : outputs, wanted,
                                             param.elements, param.tolerance);
      wanted += Bytes(param);
      result_.max_error = std::max(result_.max_error, found.max_error);
      if (found.agrees) continue;
      return Failure{RunStatus::kWrongResult,
                     absl::StrCat(kernel.name, "parameter ", i, ": element ", found.worst_index, " is ",
                                  found.found, ", wanted ", found.wanted, "; ", found.mismatches, " of ",
                                  param.elements, " elements differ too much")};
    }
    return std::nullopt;
  }

  const RunRequest& request_;
  RunNote* note_;
  Deadline give_up_;
  size_t timed_;  // number of kernels that are timed; the reference kernel follows
  std::vector<LoadedKernel> kernels_;
  std::vector<std::unique_ptr<GuardedBuffer>> buffers_;
  void* profiled_ = nullptr;
  cpu_set_t cores_ = {};  // the cores that the threads share
  int64_t output_bytes_ = 0, param_bytes_ = 0;
  int written_ = -1, stress_written_ = -1;
  const char *reference_ = nullptr, *stress_reference_ = nullptr;
  StressData stress_data_{request_.data_seed, request_.stress.sets};
  RunResult result_;
};

}  // namespace

void RunAndExit(const RunRequest& request, int result_fd, RunNote* note) {
  Child child(request, note);
  const bool sent = WriteFrame(result_fd, Encode(child.Run()));
  _exit(sent ? 0 : 1);
}

}  // namespace kiln
