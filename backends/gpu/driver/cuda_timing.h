// Times kernels on a GPU, one sample of each kernel after the other, as run_on_gpu.h says. Private to
// backends/gpu/driver.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "backends/gpu/driver/cuda_kernel.h"

namespace kiln {

// A kernel to time, with several copies of its buffers. Runs use one copy after the other, so that few data are in
// caches.
class TimedCudaKernel {
 public:
  // Makes copies of the kernel's buffers, at least one and at most 64, until together they have `least_bytes`, or
  // `most_bytes` would be exceeded. Fills them with inputs of `seed`, and runs the prepare phase.
  TimedCudaKernel(CudaDevice& gpu, const CudaKernel& kernel, uint64_t seed, int64_t least_bytes,
                  int64_t most_bytes);

  // Returns the first copy of the buffers, which the first run uses, and later every n-th run if there are n copies.
  const CudaBuffers& first() const { return *copies_[0]; }
  ~TimedCudaKernel();
  TimedCudaKernel(TimedCudaKernel&& other) noexcept;

  // Chooses how many runs a sample has, so that it takes at least about 200 microseconds, but at most about 1000 runs.
  // If it has several, they use all copies equally often, and the driver replays them (CudaDevice::Capture): for short
  // kernels the host's launches would take longer than the kernels.
  void Prepare();
  // Takes a sample: runs the kernel as often as Prepare has chosen. Returns the seconds of one run.
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
  double slowdown = 1;                       // of the reference kernel; 1 if that is unknown
  double reference_before = 0, reference_after = 0;
  bool lower_bound = false;
};

// Takes samples of the kernels in rounds, one of each kernel a round, every other round in reverse order. Ends after a
// round if a stop rule holds for the first kernel (`lower_bound`), if there are enough samples, or if max_seconds or
// enough_seconds of request.timing have passed. Times `reference`, which may be null, before and after. Stops if the
// GPU fails; otherwise calls check(kernel, buffers) for each kernel at the end, with the buffers of its first run.
CudaTimes TimeOnGpu(CudaDevice& gpu, const std::vector<std::unique_ptr<CudaKernel>>& kernels,
                    const CudaKernel* reference, const RunRequest& request,
                    const std::function<void(size_t kernel, const CudaBuffers& buffers)>& check);

}  // namespace kiln
