// A kernel of a RunRequest (backends/runner/runner.h) on a GPU. Its KernelObject has a cubin in the place of the shared
// object, and its list of launches as the field kLaunchListField (backends/runner/launch.h).
//
// Buffers lie between guards, which hold a pattern that nothing computes.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "backends/gpu/driver/cuda_device.h"
#include "backends/runner/launch.h"
#include "backends/runner/runner.h"

namespace kiln {

// A failed step of a run; kOk: none failed.
struct GpuFailure {
  RunStatus status = RunStatus::kOk;
  std::string detail = {};
  bool ok() const { return status == RunStatus::kOk; }
};

// The buffers of a kernel's parameters, then of its workspace, on the GPU.
class CudaBuffers {
 public:
  CudaBuffers(CudaDevice& gpu, const std::vector<KernelParam>& params, int64_t workspace_bytes);
  ~CudaBuffers();
  CudaBuffers(const CudaBuffers&) = delete;
  CudaBuffers& operator=(const CudaBuffers&) = delete;

  // Fills inputs with their data, and what kernels write with a pattern.
  void Fill(uint64_t seed);
  void FillLike(const CudaBuffers& other);  // of the same parameters
  uint64_t address(size_t number) const { return addresses_[number]; }
  std::string Download(size_t number) const;
  // Which buffer the kernel wrote beside, or which input it changed; "" if none.
  std::string Violation(uint64_t seed) const;
  int64_t bytes() const { return bytes_; }

 private:
  int64_t BytesOf(size_t number) const;
  std::string DataOf(size_t number, uint64_t seed) const;

  CudaDevice& gpu_;
  const std::vector<KernelParam>& params_;
  const int64_t workspace_bytes_;
  int64_t bytes_ = 0;
  std::vector<uint64_t> blocks_, addresses_;
};

class CudaKernel {
 public:
  // Loads the kernel. `object` must live as long.
  CudaKernel(CudaDevice& gpu, const KernelObject& object);
  ~CudaKernel();
  CudaKernel(const CudaKernel&) = delete;
  CudaKernel& operator=(const CudaKernel&) = delete;

  const GpuFailure& failure() const { return failure_; }
  const LaunchList& launches() const { return list_; }
  const std::vector<KernelParam>& params() const { return object_.params; }
  // Puts the launches of a phase on the stream.
  void Run(const CudaBuffers& buffers, bool prepare) const;
  // The most blocks of each launch that an SM holds.
  std::vector<int> BlocksPerSm() const;

 private:
  std::string Problem();

  CudaDevice& gpu_;
  const KernelObject& object_;
  LaunchList list_;
  void* library_ = nullptr;
  std::vector<void*> kernels_;  // of the launches
  GpuFailure failure_;
};

// The failure of the GPU, if it has one. `step` begins the message.
GpuFailure FailureOf(const CudaDevice& gpu, const std::string& step);

}  // namespace kiln
