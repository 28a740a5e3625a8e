#include "backends/gpu/driver/cuda_kernel.h"

#include <cstdlib>
#include <sstream>

#include "absl/strings/str_cat.h"
#include "backends/gpu/driver/wanted_elements.h"
#include "backends/runner/data.h"

namespace kiln {
namespace {

constexpr int kOutOfMemory = 2;

}  // namespace

GpuFailure FailureOf(const CudaDevice& gpu, const std::string& step) {
  if (gpu.ok()) return {};
  const RunStatus status = gpu.status() == kOutOfMemory ? RunStatus::kOutOfMemory
                           : gpu.sticky()               ? RunStatus::kCrashed
                                                        : RunStatus::kLoadFailed;
  return {status, absl::StrCat(step, ": ", gpu.error())};
}

CudaKernel::CudaKernel(CudaDevice& gpu, const KernelObject& object) : gpu_(gpu), object_(object) {
  failure_ = {RunStatus::kLoadFailed, Problem()};
  if (!failure_.detail.empty()) return;
  library_ = gpu_.Load(object.shared_object);
  for (const kiln::Launch& launch : list_.launches)
    kernels_.push_back(gpu_.Kernel(library_, launch.kernel, launch.shared_bytes));
  failure_ = FailureOf(gpu_, "cannot load the kernels");
}

CudaKernel::~CudaKernel() { gpu_.Unload(library_); }

// Reads the fields of the kernel's object, and checks that they, the parameters, the launches and the cubin fit
// together. Returns a message that names the fault, or "" if they fit.
std::string CudaKernel::Problem() {
  bool has_list = false;
  for (const KernelField& field : object_.fields) {
    if (field.tag == kLaunchListField) {
      has_list = Decode(field.bytes, &list_);
    } else if (field.tag == kRepeatedRunsField) {
      repeated_runs_ = atoi(field.bytes.c_str());
    } else if (field.tag == kBlocksPerSmField) {
      std::istringstream numbers(field.bytes);
      for (int blocks; numbers >> blocks;) blocks_per_sm_.push_back(blocks);
    } else if (field.tag != kWantedElementsField) {
      return absl::StrCat("field ", field.tag, " is unknown to this runner");
    }
  }
  if (!has_list) return "the kernel has no list of launches";
  if (list_.parameters.size() != object_.params.size())
    return absl::StrCat(object_.params.size(), " parameters for launches with ", list_.parameters.size());
  for (size_t i = 0; i < object_.params.size(); ++i) {
    const KernelParam& param = object_.params[i];
    const int64_t size = DTypeBytes(param.dtype);
    if (size == 0 || param.elements * size != list_.parameters[i] ||
        (!param.data.empty() && static_cast<int64_t>(param.data.size()) != list_.parameters[i]))
      return absl::StrCat("parameter ", i, " has ", param.elements, " elements of '", param.dtype,
                          "', but launches use ", list_.parameters[i], " bytes");
  }
  for (const kiln::Launch& launch : list_.launches) {
    for (const LaunchArgument& argument : launch.arguments) {
      const int64_t most = argument.is_workspace ? list_.workspace_bytes : std::ssize(list_.parameters) - 1;
      if (argument.value < 0 || argument.value > most)
        return absl::StrCat("kernel ", launch.kernel, " takes argument ", argument.value, " of ", most);
    }
  }
  if (object_.shared_object.empty()) return "there is no cubin";
  return "";
}

void CudaKernel::Run(const CudaBuffers& buffers, bool prepare) const {
  for (size_t l = 0; l < list_.launches.size(); ++l) {
    const kiln::Launch& launch = list_.launches[l];
    if (launch.prepare != prepare) continue;
    std::vector<uint64_t> arguments;
    for (const LaunchArgument& argument : launch.arguments) {
      arguments.push_back(argument.is_workspace
                              ? buffers.address(object_.params.size()) + static_cast<uint64_t>(argument.value)
                              : buffers.address(static_cast<size_t>(argument.value)));
    }
    gpu_.Launch(kernels_[l], {launch.blocks, launch.threads, launch.shared_bytes}, std::move(arguments));
  }
}

std::string CudaKernel::OtherOccupancy() const {
  for (size_t l = 0; l < blocks_per_sm_.size() && l < kernels_.size(); ++l) {
    const kiln::Launch& launch = list_.launches[l];
    const int blocks = gpu_.BlocksPerSm(kernels_[l], launch.threads, launch.shared_bytes);
    if (blocks != blocks_per_sm_[l])
      return absl::StrCat("an SM holds ", blocks, " blocks of ", launch.kernel, ", not ", blocks_per_sm_[l]);
  }
  return "";
}

}  // namespace kiln
