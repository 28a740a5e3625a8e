#include "backends/gpu/driver/cuda_buffers.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "backends/gpu/driver/kept_inputs.h"
#include "backends/runner/data.h"

namespace kiln {
namespace {

constexpr int64_t kGuard = 4096;  // bytes on each side of a buffer
constexpr char kGuardByte = '\xff';
constexpr int64_t kBlock = 16 << 20;  // bytes that the host has at a time

bool IsGiven(KernelParam::Role role) {
  return role == KernelParam::kInput || role == KernelParam::kConstant || role == KernelParam::kScalar;
}

}  // namespace

CudaBuffers::CudaBuffers(CudaDevice& gpu, const std::vector<KernelParam>& params, int64_t workspace_bytes)
    : gpu_(gpu), params_(params), workspace_bytes_(workspace_bytes) {
  for (size_t i = 0; i <= params.size(); ++i) {
    const int64_t bytes = BytesOf(i);
    bytes_ += bytes;
    blocks_.push_back(gpu_.Allocate(bytes + 2 * kGuard));
    addresses_.push_back(blocks_.back() + kGuard);
    gpu_.Fill(blocks_.back(), static_cast<uint8_t>(kGuardByte), bytes + 2 * kGuard);
  }
}

CudaBuffers::~CudaBuffers() {
  for (const uint64_t block : blocks_) gpu_.Free(block);
}

int64_t CudaBuffers::SizeOf(size_t number) const {
  return number == params_.size() ? 1 : DTypeBytes(params_[number].dtype);
}

int64_t CudaBuffers::BytesOf(size_t number) const {
  return number == params_.size() ? workspace_bytes_ : params_[number].elements * SizeOf(number);
}

std::string CudaBuffers::DataOf(size_t number, const GpuInputs& inputs, int64_t first,
                                int64_t elements) const {
  const int64_t size = SizeOf(number);
  const auto begin = static_cast<size_t>(first * size), bytes = static_cast<size_t>(elements * size);
  std::string data(bytes, '\0');
  if (number == params_.size() || !IsGiven(params_[number].role)) {
    FillPoison(data.data(), elements * size);
    return data;
  }
  const KernelParam& param = params_[number];
  const int position = static_cast<int>(number);
  if (inputs.stress != nullptr && StressData::Fills(param))
    return std::string(inputs.stress->Data(position, param, inputs.set, 1) + begin, bytes);
  if (!param.data.empty()) return param.data.substr(begin, bytes);
  const int turn = IsFloatDType(param.dtype) ? inputs.turn : 0;
  CopyInput(inputs.seed + static_cast<uint64_t>(turn), position, param, first, elements, data.data());
  return data;
}

void CudaBuffers::ForBlocks(size_t number, const std::function<bool(int64_t, int64_t)>& visit) const {
  const int64_t step = kBlock / SizeOf(number), all = BytesOf(number) / SizeOf(number);
  for (int64_t first = 0; first < all; first += step)
    if (!visit(first, std::min(step, all - first))) return;
}

void CudaBuffers::Fill(const GpuInputs& inputs) {
  for (size_t i = 0; i <= params_.size(); ++i) {
    ForBlocks(i, [&](int64_t first, int64_t elements) {
      const std::string data = DataOf(i, inputs, first, elements);
      gpu_.Upload(addresses_[i] + static_cast<uint64_t>(first * SizeOf(i)), data.data(),
                  elements * SizeOf(i));
      return gpu_.ok();
    });
  }
}

void CudaBuffers::FillLike(const CudaBuffers& other) {
  for (size_t i = 0; i <= params_.size(); ++i) gpu_.Copy(addresses_[i], other.addresses_[i], BytesOf(i));
}

std::string CudaBuffers::Download(size_t number, int64_t first, int64_t elements) const {
  std::string bytes(static_cast<size_t>(elements * SizeOf(number)), '\0');
  gpu_.Download(bytes.data(), addresses_[number] + static_cast<uint64_t>(first * SizeOf(number)),
                elements * SizeOf(number));
  return bytes;
}

std::string CudaBuffers::Violation(const GpuInputs& inputs) const {
  for (size_t i = 0; i <= params_.size(); ++i) {
    const std::string name = i == params_.size() ? "the workspace" : absl::StrCat("parameter ", i);
    for (const uint64_t at : {blocks_[i], addresses_[i] + static_cast<uint64_t>(BytesOf(i))}) {
      std::string guard(kGuard, '\0');
      gpu_.Download(guard.data(), at, kGuard);
      if (gpu_.ok() && guard != std::string(kGuard, kGuardByte))
        return absl::StrCat("wrote ", at == blocks_[i] ? "before" : "behind", " ", name);
    }
    bool changed = false;
    if (i < params_.size() && IsGiven(params_[i].role)) {
      ForBlocks(i, [&](int64_t first, int64_t elements) {
        changed = Download(i, first, elements) != DataOf(i, inputs, first, elements) && gpu_.ok();
        return !changed;
      });
    }
    if (changed) return absl::StrCat("wrote to ", name, ", an input");
  }
  return "";
}

}  // namespace kiln
