#include "backends/gpu/driver/cuda_kernel.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "backends/gpu/driver/wanted_elements.h"
#include "backends/runner/data.h"

namespace kiln {
namespace {

constexpr int64_t kGuard = 256;  // bytes on each side of a buffer
constexpr char kGuardByte = '\xa5';
constexpr int kOutOfMemory = 2;

bool IsGiven(KernelParam::Role role) {
  return role == KernelParam::kInput || role == KernelParam::kConstant || role == KernelParam::kScalar;
}

}  // namespace

GpuFailure FailureOf(const CudaDevice& gpu, const std::string& step) {
  if (gpu.ok()) return {};
  const RunStatus status = gpu.status() == kOutOfMemory ? RunStatus::kOutOfMemory
                           : gpu.sticky()               ? RunStatus::kCrashed
                                                        : RunStatus::kLoadFailed;
  return {status, absl::StrCat(step, ": ", gpu.error())};
}

// --- Buffers

CudaBuffers::CudaBuffers(CudaDevice& gpu, const std::vector<KernelParam>& params, int64_t workspace_bytes)
    : gpu_(gpu), params_(params), workspace_bytes_(workspace_bytes) {
  for (size_t i = 0; i <= params.size(); ++i) {
    const int64_t bytes = BytesOf(i);
    bytes_ += bytes;
    blocks_.push_back(gpu_.Allocate(bytes + 2 * kGuard));
    addresses_.push_back(blocks_.back() + kGuard);
    gpu_.Fill(blocks_.back(), kGuardByte, bytes + 2 * kGuard);
  }
}

CudaBuffers::~CudaBuffers() {
  for (const uint64_t block : blocks_) gpu_.Free(block);
}

int64_t CudaBuffers::BytesOf(size_t number) const {
  if (number == params_.size()) return workspace_bytes_;
  return params_[number].elements * DTypeBytes(params_[number].dtype);
}

std::string CudaBuffers::DataOf(size_t number, uint64_t seed) const {
  const KernelParam& param = params_[number];
  if (!param.data.empty()) return param.data;
  std::string data(static_cast<size_t>(BytesOf(number)), '\0');
  if (IsGiven(param.role)) {
    FillInput(seed, static_cast<int>(number), param.dtype, 0, param.elements, data.data(), param.range);
  } else {
    FillPoison(data.data(), BytesOf(number));
  }
  return data;
}

void CudaBuffers::Fill(uint64_t seed) {
  for (size_t i = 0; i < params_.size(); ++i) gpu_.Upload(addresses_[i], DataOf(i, seed).data(), BytesOf(i));
  if (workspace_bytes_ > 0) {
    std::string poison(static_cast<size_t>(workspace_bytes_), '\0');
    FillPoison(poison.data(), workspace_bytes_);
    gpu_.Upload(addresses_.back(), poison.data(), workspace_bytes_);
  }
}

void CudaBuffers::FillLike(const CudaBuffers& other) {
  for (size_t i = 0; i <= params_.size(); ++i) gpu_.Copy(addresses_[i], other.addresses_[i], BytesOf(i));
}

std::string CudaBuffers::Download(size_t number) const {
  std::string bytes(static_cast<size_t>(BytesOf(number)), '\0');
  gpu_.Download(bytes.data(), addresses_[number], BytesOf(number));
  return bytes;
}

std::string CudaBuffers::Violation(uint64_t seed) const {
  for (size_t i = 0; i <= params_.size(); ++i) {
    const std::string name = i == params_.size() ? "the workspace" : absl::StrCat("parameter ", i);
    for (const uint64_t at : {blocks_[i], addresses_[i] + static_cast<uint64_t>(BytesOf(i))}) {
      std::string guard(kGuard, '\0');
      gpu_.Download(guard.data(), at, kGuard);
      if (gpu_.ok() && guard != std::string(kGuard, kGuardByte))
        return absl::StrCat("wrote ", at == blocks_[i] ? "before" : "behind", " ", name);
    }
    if (i < params_.size() && IsGiven(params_[i].role) && Download(i) != DataOf(i, seed) && gpu_.ok())
      return absl::StrCat("wrote to ", name, ", an input");
  }
  return "";
}

// --- Kernels

CudaKernel::CudaKernel(CudaDevice& gpu, const KernelObject& object) : gpu_(gpu), object_(object) {
  failure_ = {RunStatus::kLoadFailed, Problem()};
  if (!failure_.detail.empty()) return;
  library_ = gpu_.Load(object.shared_object);
  for (const kiln::Launch& launch : list_.launches)
    kernels_.push_back(gpu_.Kernel(library_, launch.kernel, launch.shared_bytes));
  failure_ = FailureOf(gpu_, "cannot load the kernels");
}

CudaKernel::~CudaKernel() { gpu_.Unload(library_); }

// Why the request describes no kernel of a GPU; "" if it does.
std::string CudaKernel::Problem() {
  bool has_list = false;
  for (const KernelField& field : object_.fields) {
    if (field.tag == kLaunchListField) {
      has_list = Decode(field.bytes, &list_);
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

std::vector<int> CudaKernel::BlocksPerSm() const {
  std::vector<int> blocks;
  for (size_t l = 0; l < kernels_.size(); ++l)
    blocks.push_back(
        gpu_.BlocksPerSm(kernels_[l], list_.launches[l].threads, list_.launches[l].shared_bytes));
  return blocks;
}

}  // namespace kiln
