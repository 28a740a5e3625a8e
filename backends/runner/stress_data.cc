#include "backends/runner/stress_data.h"

#include "backends/runner/data.h"

namespace kiln {
namespace {

constexpr int64_t kStep = 1021;  // a prime, so that rows begin elsewhere in each set

}  // namespace

bool StressData::Fills(const KernelParam& param) {
  return param.role == KernelParam::kInput && param.data.empty() && IsFloatDType(param.dtype);
}

const char* StressData::Data(int position, const KernelParam& param, int set, double scale) {
  const int64_t bytes = DTypeBytes(param.dtype);
  std::string& drawn = drawn_[{position, param.dtype, param.elements, scale}];
  if (drawn.empty()) {
    const int64_t elements = param.elements + (sets_ - 1) * kStep;
    drawn.resize(static_cast<size_t>(elements * bytes));
    FillStress(seed_, position, param.dtype, scale, elements, drawn.data());
  }
  return drawn.data() + set * kStep * bytes;
}

}  // namespace kiln
