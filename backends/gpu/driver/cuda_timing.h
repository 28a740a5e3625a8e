// Times kernels on a GPU in turns, as run_on_gpu.h says. Private to backends/gpu/driver.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "backends/gpu/driver/cuda_kernel.h"

namespace kiln {

// A kernel with copies of its buffers, which runs use in turn.
class TimedCudaKernel {
 public:
  // Makes copies, at least one and at most 64, until together they have `least_bytes`, or `most_bytes` would be exceeded.
  // Fills them, and runs the prepare phase.
  TimedCudaKernel(CudaDevice& gpu, const CudaKernel& kernel, uint64_t seed, int64_t least_bytes,
                  int64_t most_bytes);

  // Returns the buffers of the first run, and of each that uses them again.
  const CudaBuffers& first() const { return *copies_[0]; }
  ~TimedCudaKernel();
  TimedCudaKernel(TimedCudaKernel&& other) noexcept;

  // Chooses the runs of a sample, so that it takes long enough. If they are several, they use all copies equally often, and
  // the driver replays them (CudaDevice::Capture): for short kernels the host's launches would take longer.
  void Prepare();
  // Takes a sample. Returns the seconds of one run.
  double Sample();

 private:
  void Run(int runs);

  CudaDevice& gpu_;
  const CudaKernel& kernel_;
  std::vector<std::unique_ptr<CudaBuffers>> copies_;
  size_t next_ = 0;
  int runs_ = 1;              // of a sample
  void* captured_ = nullptr;  // the runs of a sample; null if there is one
};

struct CudaTimes {
  std::vector<std::vector<double>> samples;  // of each kernel, in the order taken
  double slowdown = 1;                       // of the reference kernel; 1 without one
  double reference_before = 0, reference_after = 0;
  bool lower_bound = false;
};

// Times the kernels in turns. `reference` may be null. A failure of the GPU ends it; else `check` gets the number and the
// buffers of each kernel in the end.
CudaTimes TimeOnGpu(CudaDevice& gpu, const std::vector<std::unique_ptr<CudaKernel>>& kernels,
                    const CudaKernel* reference, const RunRequest& request,
                    const std::function<void(size_t kernel, const CudaBuffers& buffers)>& check);

}  // namespace kiln
