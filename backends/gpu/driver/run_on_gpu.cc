#include "backends/gpu/driver/run_on_gpu.h"

#include <unistd.h>

#include <algorithm>
#include <map>
#include <memory>
#include <utility>

#include "absl/strings/str_cat.h"
#include "backends/gpu/driver/check_outputs.h"
#include "backends/gpu/driver/cuda_kernel.h"
#include "backends/gpu/driver/cuda_timing.h"
#include "backends/runner/data.h"
#include "backends/runner/reference_file.h"
#include "backends/workers/write_all.h"

namespace kiln {
namespace {

constexpr int kTurns = 3;           // sets of inputs of repeated runs
constexpr double kDisturbed = 1.1;  // slowdown of the reference kernel above which samples are not quiet

int64_t BytesOfOutputs(const KernelObject& kernel) {
  int64_t bytes = 0;
  for (const KernelParam& param : kernel.params)
    if (param.role == KernelParam::kOutput) bytes += param.elements * DTypeBytes(param.dtype);
  return bytes;
}

class GpuRun {
 public:
  GpuRun(CudaDevice& gpu, const RunRequest& request) : gpu_(gpu), request_(request) {}

  RunResult Run() {
    GpuFailure failure = CheckAll();
    if (failure.ok() && request_.timing.runs > 0) failure = Time();
    if (failure.ok() && !result_.lower_bound) failure = RunStress();
    kernels_.clear();
    reference_.reset();
    gpu_.Forgive();
    result_.status = failure.status;
    result_.detail = failure.detail;
    return std::move(result_);
  }

 private:
  GpuFailure CheckAll() {
    if (!request_.stress.write_reference_to.empty() || request_.profile)
      return {RunStatus::kLoadFailed,
              "a GPU's runner neither writes outputs of stress inputs nor has profiles"};
    const int64_t bytes = BytesOfOutputs(request_.kernel);
    for (std::string problem :
         {MapReference(request_.reference, bytes, &wanted_),
          MapReference(request_.stress.reference, request_.stress.sets * bytes, &finite_)})
      if (!problem.empty()) return {RunStatus::kLoadFailed, std::move(problem)};
    for (size_t i = 0; i <= request_.peers.size(); ++i) {
      GpuFailure failure = Named(i, Check(i));
      if (!failure.ok()) return failure;
    }
    return {};
  }

  const KernelObject& Object(size_t i) const { return i == 0 ? request_.kernel : request_.peers[i - 1]; }
  // Returns the failure of kernel i. If the kernel is a peer (i > 0), puts the number of the peer before the message.
  static GpuFailure Named(size_t i, GpuFailure failure) {
    if (!failure.ok() && i > 0) failure.detail = absl::StrCat("peer ", i - 1, ": ", failure.detail);
    return failure;
  }

  // Loads a kernel, checks how many of its blocks an SM holds, runs it once, compares what it wrote, and repeats the
  // run if the kernel asks for that. Writes the outputs of the first kernel to a file if the request names one.
  GpuFailure Check(size_t i) {
    const KernelObject& object = Object(i);
    kernels_.push_back(std::make_unique<CudaKernel>(gpu_, object));
    const CudaKernel& kernel = *kernels_.back();
    if (!kernel.failure().ok()) return kernel.failure();
    if (std::string other = kernel.OtherOccupancy(); !other.empty()) return {RunStatus::kWrongResult, other};
    CudaBuffers buffers(gpu_, object.params, kernel.launches().workspace_bytes);
    if (buffers.bytes() > request_.limits.bytes)
      return {RunStatus::kOutOfMemory,
              absl::StrCat("the parameters have ", buffers.bytes(), " bytes, but only ",
                           request_.limits.bytes, " are allowed")};
    GpuFailure failure = RunOnce(kernel, buffers, {.seed = request_.data_seed});
    if (failure.ok()) failure = Compare(i, buffers);
    if (failure.ok()) failure = RunAgain(kernel, buffers);
    return failure.ok() && i == 0 ? Write(buffers, object, request_.write_reference_to) : failure;
  }

  GpuFailure Compare(size_t i, const CudaBuffers& buffers) {
    GpuFailure failure = CheckOutputs(buffers, {wanted_, Object(i)}, &result_.max_error);
    return failure.ok() ? FailureOf(gpu_, "cannot read the outputs") : failure;
  }

  GpuFailure RunOnce(const CudaKernel& kernel, CudaBuffers& buffers, const GpuInputs& inputs) {
    buffers.Fill(inputs);
    if (!gpu_.ok()) return FailureOf(gpu_, "no memory for the parameters");
    gpu_.Mark(0);
    kernel.Run(buffers, true);
    gpu_.Mark(1);
    result_.prepare_seconds = std::max(result_.prepare_seconds, gpu_.SecondsBetweenMarks());
    kernel.Run(buffers, false);
    gpu_.Synchronize();
    if (!gpu_.ok()) return FailureOf(gpu_, "the kernels failed");
    if (std::string violation = buffers.Violation(inputs); !violation.empty())
      return {RunStatus::kGuardViolated, violation};
    return {};
  }

  // Runs a kernel again, as often as it asks for, with inputs of three seeds in turn. Fails if two runs with equal
  // inputs wrote different outputs. The inputs of the last run are those of the first run.
  GpuFailure RunAgain(const CudaKernel& kernel, CudaBuffers& buffers) {
    if (kernel.repeated_runs() == 0) return {};
    std::map<int, std::vector<BlockHash>> first = {{0, HashesOfOutputs(buffers, kernel.params())}};
    for (int run = kernel.repeated_runs(); run > 0; --run) {
      const int turn = (run - 1) % kTurns;
      GpuFailure failure = RunOnce(kernel, buffers, {.seed = request_.data_seed, .turn = turn});
      if (!failure.ok()) return failure;
      std::vector<BlockHash> now = HashesOfOutputs(buffers, kernel.params());
      const auto [before, is_first] = first.try_emplace(turn, now);
      for (size_t b = 0; b < now.size() && !is_first; ++b) {
        if (now[b].hash != before->second[b].hash)
          return {RunStatus::kWrongResult,
                  absl::StrCat("parameter ", now[b].param, ", elements ", now[b].first, " to ",
                               now[b].first + now[b].elements - 1,
                               ": two runs with equal inputs wrote different values, as with a race")};
      }
    }
    return {};
  }

  // Runs all kernels with the sets of stress inputs, whose values lie far apart, and checks that their outputs are
  // finite where the reference outputs are. Does nothing if the request has no such reference.
  GpuFailure RunStress() {
    if (finite_ == nullptr) return {};
    const int64_t bytes = BytesOfOutputs(request_.kernel);
    StressData data(request_.data_seed, request_.stress.sets);
    for (size_t i = 0; i < kernels_.size(); ++i) {
      CudaBuffers buffers(gpu_, kernels_[i]->params(), kernels_[i]->launches().workspace_bytes);
      for (int set = 0; set < request_.stress.sets; ++set) {
        GpuFailure failure =
            RunOnce(*kernels_[i], buffers, {.seed = request_.data_seed, .stress = &data, .set = set});
        if (failure.ok()) failure = CheckFinite(buffers, kernels_[i]->params(), finite_ + set * bytes);
        if (failure.ok()) failure = FailureOf(gpu_, "cannot read the outputs");
        if (!failure.ok()) return Named(i, failure);
      }
    }
    return {};
  }

  static GpuFailure Write(const CudaBuffers& buffers, const KernelObject& object, const std::string& path) {
    if (path.empty()) return {};
    int file = -1;
    if (std::string problem = OpenToWrite(path, &file); !problem.empty())
      return {RunStatus::kLoadFailed, problem};
    bool written = true;
    for (size_t i = 0; i < object.params.size(); ++i) {
      if (object.params[i].role != KernelParam::kOutput) continue;
      buffers.ForBlocks(i, [&](int64_t first, int64_t elements) {
        return written = written && WriteAll(file, buffers.Download(i, first, elements));
      });
    }
    close(file);
    return written ? GpuFailure() : GpuFailure{RunStatus::kLoadFailed, CannotWrite(path)};
  }

  GpuFailure Time() {
    if (request_.reference_kernel) {
      reference_ = std::make_unique<CudaKernel>(gpu_, request_.reference_kernel->kernel);
      if (!reference_->failure().ok()) return reference_->failure();
    }
    GpuFailure wrong;  // a kernel may be right only the first time
    const CudaTimes times =
        TimeOnGpu(gpu_, kernels_, reference_.get(), request_, [&](size_t i, const CudaBuffers& buffers) {
          if (!wrong.ok()) return;
          const std::string violation = buffers.Violation({.seed = request_.data_seed});
          wrong = Named(
              i, violation.empty() ? Compare(i, buffers) : GpuFailure{RunStatus::kGuardViolated, violation});
          if (!wrong.ok()) wrong.detail += ", after the timing";
        });
    if (!gpu_.ok()) return FailureOf(gpu_, "the timing failed");
    if (!wrong.ok()) return wrong;
    result_.slowdown = result_.least_slowdown = times.slowdown;
    result_.quiet = times.slowdown <= kDisturbed;
    result_.lower_bound = times.lower_bound;
    const auto raw = [&](const std::vector<double>& samples) {
      std::vector<double> pairs;
      for (const double sample : samples) pairs.insert(pairs.end(), {sample, times.slowdown});
      return pairs;
    };
    result_.seconds = times.samples[0];
    result_.raw_samples = raw(times.samples[0]);
    for (size_t i = 1; i < times.samples.size(); ++i) {
      result_.peer_seconds.push_back(times.samples[i]);
      result_.peer_raw_samples.push_back(raw(times.samples[i]));
      result_.peer_preempted.push_back(0);
    }
    return {};
  }

  CudaDevice& gpu_;
  const RunRequest& request_;
  std::vector<std::unique_ptr<CudaKernel>> kernels_;
  std::unique_ptr<CudaKernel> reference_;
  const char *wanted_ = nullptr, *finite_ = nullptr;  // outputs, and those of stress inputs
  RunResult result_;
};

}  // namespace

RunResult RunOnGpu(CudaDevice& gpu, const RunRequest& request) { return GpuRun(gpu, request).Run(); }

}  // namespace kiln
