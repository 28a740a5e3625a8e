#include "backends/runner/stress_data.h"

#include <cstring>

#include "backends/runner/data.h"

namespace kiln {
namespace {

constexpr int64_t kStep = 1021;  // a prime, so that rows begin elsewhere in each set

}  // namespace

bool StressData::Fills(const KernelParam& param) {
  return param.role == KernelParam::kInput && param.data.empty() && IsFloatDType(param.dtype);
}

void StressData::Fill(int position, const KernelParam& param, int set, double scale, GuardedBuffer* buffer) {
  const int64_t bytes = DTypeBytes(param.dtype);
  std::string& drawn = drawn_[{position, param.dtype, param.elements, scale}];
  if (drawn.empty()) {
    const int64_t elements = param.elements + (sets_ - 1) * kStep;
    drawn.resize(static_cast<size_t>(elements * bytes));
    FillStress(seed_, position, param.dtype, scale, elements, drawn.data());
  }
  buffer->Unprotect();
  std::memcpy(buffer->data(), drawn.data() + set * kStep * bytes, static_cast<size_t>(buffer->bytes()));
  buffer->Protect();
}

}  // namespace kiln
