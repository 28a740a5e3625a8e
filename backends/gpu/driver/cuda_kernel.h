// Loads a kernel of a RunRequest (backends/runner/runner.h) on a GPU and launches it. Its KernelObject has a cubin in
// the place of the shared object, and its list of launches as the field kLaunchListField (backends/runner/launch.h).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "backends/gpu/driver/cuda_buffers.h"
#include "backends/gpu/driver/cuda_device.h"
#include "backends/runner/launch.h"
#include "backends/runner/runner.h"

namespace kiln {

// The failure of a step of a run on a GPU, with a message. kOk: no step failed.
struct GpuFailure {
  RunStatus status = RunStatus::kOk;
  std::string detail = {};
  bool ok() const { return status == RunStatus::kOk; }
};

class CudaKernel {
 public:
  // Loads the kernel on the GPU, and sets failure() if that fails. `object` must live as long as the CudaKernel.
  CudaKernel(CudaDevice& gpu, const KernelObject& object);
  ~CudaKernel();
  CudaKernel(const CudaKernel&) = delete;
  CudaKernel& operator=(const CudaKernel&) = delete;

  const GpuFailure& failure() const { return failure_; }
  const LaunchList& launches() const { return list_; }
  const std::vector<KernelParam>& params() const { return object_.params; }
  // Returns how many more times the kernel is to run after its first run, with inputs of several seeds in turn
  // (kRepeatedRunsField in wanted_elements.h); 0 without that field.
  int repeated_runs() const { return repeated_runs_; }
  // Launches all kernels of the prepare phase or of the main phase, in order, with these buffers. Does not wait for
  // them.
  void Run(const CudaBuffers& buffers, bool prepare) const;
  // Returns a message about the first launch for which an SM holds another number of blocks than the field
  // kBlocksPerSmField wants; "" if there is none.
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

// Returns the failure that the GPU has; kOk if it has none. The status is kOutOfMemory if memory could not be
// allocated, kCrashed if the driver refuses all further calls (sticky), else kLoadFailed. The message begins with
// `step`.
GpuFailure FailureOf(const CudaDevice& gpu, const std::string& step);

}  // namespace kiln
