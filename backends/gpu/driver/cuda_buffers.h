// The buffers of a kernel's parameters, then of its workspace, on the GPU. Each lies between guards.
//
//   CudaBuffers buffers(gpu, params, workspace_bytes);
//   buffers.Fill({.seed = 1});
//   ... run kernels with buffers.address(0) ...
//   if (std::string violation = buffers.Violation({.seed = 1}); !violation.empty()) ...
//
// Guards are NaN in every type of floats, so that a kernel that reads beside a buffer computes NaN. Outputs hold the
// pattern of FillPoison before a run. Data are made, copied back and compared in blocks, so that buffers may be larger
// than the memory of the host.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "backends/gpu/driver/cuda_device.h"
#include "backends/runner/runner.h"
#include "backends/runner/stress_data.h"

namespace kiln {

// Which data inputs get: those of a seed or, for inputs that take them, those of a stress set.
struct GpuInputs {
  uint64_t seed = 0;
  int turn = 0;  // other floats for other turns; integers stay, since they may be indices
  StressData* stress = nullptr;
  int set = 0;
};

class CudaBuffers {
 public:
  CudaBuffers(CudaDevice& gpu, const std::vector<KernelParam>& params, int64_t workspace_bytes);
  ~CudaBuffers();
  CudaBuffers(const CudaBuffers&) = delete;
  CudaBuffers& operator=(const CudaBuffers&) = delete;

  // Fills inputs with their data, and what kernels write with a pattern.
  void Fill(const GpuInputs& inputs);
  void FillLike(const CudaBuffers& other);  // copies buffers of the same parameters
  uint64_t address(size_t number) const { return addresses_[number]; }
  int64_t bytes() const { return bytes_; }

  // Copies elements of a buffer back.
  std::string Download(size_t number, int64_t first, int64_t elements) const;
  // Visits the blocks of a buffer: their first element and number of elements. Ends when `visit` returns false.
  void ForBlocks(size_t number, const std::function<bool(int64_t first, int64_t elements)>& visit) const;
  // Returns a text about the first buffer that the kernel wrote beside, or the first input that it changed; "" if none.
  std::string Violation(const GpuInputs& inputs) const;

 private:
  int64_t SizeOf(size_t number) const;  // of an element
  int64_t BytesOf(size_t number) const;
  std::string DataOf(size_t number, const GpuInputs& inputs, int64_t first, int64_t elements) const;

  CudaDevice& gpu_;
  const std::vector<KernelParam>& params_;
  const int64_t workspace_bytes_;
  int64_t bytes_ = 0;
  std::vector<uint64_t> blocks_, addresses_;
};

}  // namespace kiln
