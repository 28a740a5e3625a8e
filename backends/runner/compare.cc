#include "backends/runner/compare.h"

#include <cmath>
#include <limits>

#include "backends/runner/dtype.h"

namespace kiln {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

double Error(double found, double wanted, const Tolerance& tolerance) {
  if (std::isnan(found) && std::isnan(wanted)) return 0;
  if (!std::isfinite(found) || !std::isfinite(wanted)) return found == wanted ? 0 : kInfinity;
  const double difference = std::fabs(found - wanted);
  if (difference == 0) return 0;
  const double bound = tolerance.absolute + tolerance.relative * std::fabs(wanted);
  return bound > 0 ? difference / bound : kInfinity;
}

template <typename Type>
void Compare(const void* found_array, const void* wanted_array, int64_t elements, const Tolerance& tolerance,
             Comparison* result) {
  const auto* found = static_cast<const typename Type::Stored*>(found_array);
  const auto* wanted = static_cast<const typename Type::Stored*>(wanted_array);
  for (int64_t i = 0; i < elements; ++i) {
    const auto a = Type::Load(found[i]);
    const auto b = Type::Load(wanted[i]);
    if (a == b) continue;
    const double error =
        Type::kFloat ? Error(static_cast<double>(a), static_cast<double>(b), tolerance) : kInfinity;
    if (error > 1) ++result->mismatches;
    if (error <= result->max_error && result->worst_index >= 0) continue;
    result->max_error = error;
    result->worst_index = i;
    result->found = static_cast<double>(a);
    result->wanted = static_cast<double>(b);
  }
  result->agrees = result->mismatches == 0;
}

}  // namespace

Comparison CompareArrays(const std::string& dtype, const void* found, const void* wanted, int64_t elements,
                         const Tolerance& tolerance) {
  Comparison result;
  WithDType(dtype, [&](auto type) { Compare<decltype(type)>(found, wanted, elements, tolerance, &result); });
  return result;
}

}  // namespace kiln
