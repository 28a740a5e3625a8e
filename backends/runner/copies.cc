#include "backends/runner/copies.h"

#include <sys/mman.h>

#include <algorithm>
#include <cstring>

#include "backends/runner/data.h"

namespace kiln {
namespace {

constexpr int64_t kMaxCopies = 1024, kPage = 4096;

int64_t BytesOf(const KernelParam& param) { return param.elements * DTypeBytes(param.dtype); }

bool IsCopied(const KernelParam& param) {
  return param.role == KernelParam::kConstant || param.role == KernelParam::kPrepared;
}

int64_t BytesOf(const KernelObject& kernel, KernelParam::Role role) {
  int64_t bytes = 0;
  for (const KernelParam& param : kernel.params)
    if (param.role == role) bytes += BytesOf(param);
  return bytes;
}

// A copy at the same place within a page. Null if there is no memory.
void* CopyOf(const void* original, int64_t bytes) {
  const auto offset = static_cast<int64_t>(reinterpret_cast<uintptr_t>(original) % kPage);
  const auto size = static_cast<size_t>(bytes + offset);
  void* memory = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) return nullptr;
  void* copy = static_cast<char*>(memory) + offset;
  std::memcpy(copy, original, static_cast<size_t>(bytes));
  mprotect(memory, size, PROT_READ);
  return copy;
}

}  // namespace

int64_t CopiesOfConstants(const KernelObject& kernel, int64_t rotated_bytes) {
  if (kernel.product || rotated_bytes <= 0) return 1;
  int64_t read = BytesOf(kernel, KernelParam::kPrepared);
  if (read == 0) read = BytesOf(kernel, KernelParam::kConstant);
  if (read == 0) return 1;
  return std::clamp<int64_t>((rotated_bytes + read - 1) / read, 1, kMaxCopies);
}

int64_t BytesOfCopies(const KernelObject& kernel, int64_t rotated_bytes) {
  const int64_t more = CopiesOfConstants(kernel, rotated_bytes) - 1;
  int64_t bytes = 0;
  for (const KernelParam& param : kernel.params)
    if (IsCopied(param)) bytes += more * (BytesOf(param) + 2 * kPage);
  return bytes;
}

std::vector<std::vector<void*>> CopyConstants(const KernelObject& kernel, const std::vector<void*>& arguments,
                                              int64_t rotated_bytes) {
  const int64_t copies = CopiesOfConstants(kernel, rotated_bytes);
  if (copies == 1) return {};
  std::vector<std::vector<void*>> all = {arguments};
  while (static_cast<int64_t>(all.size()) < copies) {
    std::vector<void*> copy = arguments;
    for (size_t i = 0; i < kernel.params.size(); ++i) {
      if (!IsCopied(kernel.params[i])) continue;
      copy[i] = CopyOf(arguments[i], BytesOf(kernel.params[i]));
      if (copy[i] == nullptr) return {};
    }
    all.push_back(std::move(copy));
  }
  return all;
}

}  // namespace kiln
