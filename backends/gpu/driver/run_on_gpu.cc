#include "backends/gpu/driver/run_on_gpu.h"

#include <unistd.h>

#include <algorithm>
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
    kernels_.clear();
    reference_.reset();
    gpu_.Forgive();
    result_.status = failure.status;
    result_.detail = failure.detail;
    return std::move(result_);
  }

 private:
  GpuFailure CheckAll() {
    if (request_.stress.sets > 0 || request_.profile)
      return {RunStatus::kLoadFailed, "a GPU's runner has neither stress inputs nor profiles"};
    const char* wanted = nullptr;
    if (std::string problem = MapReference(request_.reference, BytesOfOutputs(request_.kernel), &wanted);
        !problem.empty())
      return {RunStatus::kLoadFailed, problem};
    GpuFailure failure = Check(request_.kernel, wanted, request_.write_reference_to);
    for (size_t i = 0; i < request_.peers.size() && failure.ok(); ++i) {
      failure = Check(request_.peers[i], wanted, "");
      if (!failure.ok()) failure.detail = absl::StrCat("peer ", i + 1, ": ", failure.detail);
    }
    return failure;
  }

  // Runs a kernel once, and compares what it wrote.
  GpuFailure Check(const KernelObject& object, const char* wanted, const std::string& write_to) {
    kernels_.push_back(std::make_unique<CudaKernel>(gpu_, object));
    const CudaKernel& kernel = *kernels_.back();
    if (!kernel.failure().ok()) return kernel.failure();
    CudaBuffers buffers(gpu_, object.params, kernel.launches().workspace_bytes);
    if (buffers.bytes() > request_.limits.bytes)
      return {RunStatus::kOutOfMemory,
              absl::StrCat("the parameters have ", buffers.bytes(), " bytes, but only ",
                           request_.limits.bytes, " are allowed")};
    buffers.Fill(request_.data_seed);
    if (!gpu_.ok()) return FailureOf(gpu_, "no memory for the parameters");
    gpu_.Mark(0);
    kernel.Run(buffers, true);
    gpu_.Mark(1);
    result_.prepare_seconds = std::max(result_.prepare_seconds, gpu_.SecondsBetweenMarks());
    kernel.Run(buffers, false);
    gpu_.Synchronize();
    if (!gpu_.ok()) return FailureOf(gpu_, "the kernels failed");
    if (std::string violation = buffers.Violation(request_.data_seed); !violation.empty())
      return {RunStatus::kGuardViolated, violation};
    GpuFailure failure = CheckOutputs(buffers, {wanted, object}, &result_.max_error);
    if (failure.ok()) failure = FailureOf(gpu_, "cannot read the outputs");
    return failure.ok() ? Write(buffers, object, write_to) : failure;
  }

  static GpuFailure Write(const CudaBuffers& buffers, const KernelObject& object, const std::string& path) {
    if (path.empty()) return {};
    int file = -1;
    if (std::string problem = OpenToWrite(path, &file); !problem.empty())
      return {RunStatus::kLoadFailed, problem};
    bool written = true;
    for (size_t i = 0; i < object.params.size() && written; ++i)
      if (object.params[i].role == KernelParam::kOutput) written = WriteAll(file, buffers.Download(i));
    close(file);
    return written ? GpuFailure() : GpuFailure{RunStatus::kLoadFailed, CannotWrite(path)};
  }

  GpuFailure Time() {
    if (request_.reference_kernel) {
      reference_ = std::make_unique<CudaKernel>(gpu_, request_.reference_kernel->kernel);
      if (!reference_->failure().ok()) return reference_->failure();
    }
    const CudaTimes times = TimeOnGpu(gpu_, kernels_, reference_.get(), request_);
    if (!gpu_.ok()) return FailureOf(gpu_, "the timing failed");
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
  RunResult result_;
};

}  // namespace

RunResult RunOnGpu(CudaDevice& gpu, const RunRequest& request) { return GpuRun(gpu, request).Run(); }

}  // namespace kiln
