// A kernel of a RunRequest (backends/runner/runner.h) on a GPU. Its KernelObject has a cubin in the place of the shared
// object, and its list of launches as the field kLaunchListField (backends/runner/launch.h).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "backends/gpu/driver/cuda_buffers.h"
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
  // Returns how many more times it is to run, with inputs of some seeds in turn (kRepeatedRunsField in
  // wanted_elements.h).
  int repeated_runs() const { return repeated_runs_; }
  // Puts the launches of a phase on the stream.
  void Run(const CudaBuffers& buffers, bool prepare) const;
  // Says which launch is the first for which an SM holds another number of blocks than kBlocksPerSmField wants; ""
  // if there is none.
  std::string OtherOccupancy() const;

 private:
  std::string Problem();

  CudaDevice& gpu_;
  const KernelObject& object_;
  LaunchList list_;
  int repeated_runs_ = 0;
  std::vector<int> blocks_per_sm_;  // wanted, of each launch; empty: not compared
  void* library_ = nullptr;
  std::vector<void*> kernels_;  // of the launches
  GpuFailure failure_;
};

// Returns the failure of the GPU, if it has one: kOutOfMemory, kCrashed if it is sticky, else kLoadFailed. `step` begins
// the message.
GpuFailure FailureOf(const CudaDevice& gpu, const std::string& step);

}  // namespace kiln
