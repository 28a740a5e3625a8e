// The buffers of a kernel's parameters, then of its workspace, on the GPU. Each lies between two guards of 4 KiB.
//
//   CudaBuffers buffers(gpu, params, workspace_bytes);
//   buffers.Fill({.seed = 1});
//   ... run kernels with buffers.address(0) ...
//   if (std::string violation = buffers.Violation({.seed = 1}); !violation.empty()) ...
//
// The bytes of guards are NaN in every float type, so that a kernel that reads outside a buffer computes NaN. Fill
// writes inputs, and the pattern of FillPoison to outputs and the workspace. Violation reports a guard or an input that
// the kernel changed. Data are made, copied back and compared in parts of 16 MiB, so that buffers may be larger than
// the memory of the host.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "backends/gpu/driver/cuda_device.h"
#include "backends/runner/runner.h"
#include "backends/runner/stress_data.h"

namespace kiln {

// Which data the inputs of a kernel get. Float inputs without given values get set number `set` of `stress`, unless
// that is null. Other inputs get their given values (KernelParam::data) or, if they have none, random values of `seed`.
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

  // Fills inputs with their data, and outputs and the workspace with the pattern of FillPoison.
  void Fill(const GpuInputs& inputs);
  void FillLike(const CudaBuffers& other);  // copies buffers of the same parameters
  uint64_t address(size_t number) const { return addresses_[number]; }
  int64_t bytes() const { return bytes_; }

  // Copies elements of a buffer from the GPU, and returns their bytes. `number`: the position of the buffer's
  // parameter, or the number of parameters for the workspace.
  std::string Download(size_t number, int64_t first, int64_t elements) const;
  // Calls visit for consecutive parts of a buffer, each at most 16 MiB, with the first element and the number of
  // elements of the part. Ends when `visit` returns false.
  void ForBlocks(size_t number, const std::function<bool(int64_t first, int64_t elements)>& visit) const;
  // Returns a message about the first buffer whose guards or, for an input that was filled with `inputs`, whose
  // elements the kernel changed. Returns "" if there is none.
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
