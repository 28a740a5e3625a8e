#include "backends/runner/compare.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "backends/runner/data.h"
#include "backends/runner/dtype.h"

namespace kiln {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr int64_t kBlock = 1024;

double Error(double found, double wanted, const Tolerance& tolerance) {
  if (std::isnan(found) && std::isnan(wanted)) return 0;
  if (!std::isfinite(found) || !std::isfinite(wanted)) return found == wanted ? 0 : kInfinity;
  const double difference = std::fabs(found - wanted);
  if (difference == 0) return 0;
  const double bound = tolerance.absolute + tolerance.relative * std::fabs(wanted);
  return bound > 0 ? difference / bound : kInfinity;
}

bool IsFinite(auto type, auto stored) { return std::isfinite(type.Load(stored)); }

// A quick test before an exact comparison: true if the error of some element may exceed `error` times the tolerance.
template <typename Type>
bool Exceeds(double error, const typename Type::Stored* found, const typename Type::Stored* wanted,
             int64_t elements, const Tolerance& tolerance) {
  const double absolute = error * tolerance.absolute;
  const double relative = error * tolerance.relative;
  bool exceeds = false;
  for (int64_t i = 0; i < elements; ++i) {
    const auto a = Type::Load(found[i]);
    const auto b = Type::Load(wanted[i]);
    if constexpr (Type::kFloat) {
      const double x = static_cast<double>(a), y = static_cast<double>(b);
      exceeds |= !(std::fabs(x - y) <= absolute + relative * std::fabs(y));
    } else {
      exceeds |= a != b;
    }
  }
  return exceeds;
}

template <typename Type>
void LookCloser(const typename Type::Stored* found, const typename Type::Stored* wanted, int64_t begin,
                int64_t end, const Tolerance& tolerance, Comparison* result) {
  for (int64_t i = begin; i < end; ++i) {
    const auto a = Type::Load(found[i]);
    const auto b = Type::Load(wanted[i]);
    if (a == b) continue;
    const double x = static_cast<double>(a), y = static_cast<double>(b);
    const double error = Type::kFloat ? Error(x, y, tolerance) : kInfinity;
    if (error > 1) ++result->mismatches;
    if (error <= result->max_error && result->worst_index >= 0) continue;
    result->max_error = error;
    result->worst_index = i;
    result->found = x;
    result->wanted = y;
  }
}

template <typename Type>
void Compare(const void* found_array, const void* wanted_array, int64_t elements, const Tolerance& tolerance,
             Comparison* result) {
  const auto* found = static_cast<const typename Type::Stored*>(found_array);
  const auto* wanted = static_cast<const typename Type::Stored*>(wanted_array);
  for (int64_t begin = 0; begin < elements; begin += kBlock) {
    const int64_t end = std::min(begin + kBlock, elements);
    const double passed = std::min(result->max_error, 1.0);
    if (Exceeds<Type>(passed, found + begin, wanted + begin, end - begin, tolerance)) {
      LookCloser<Type>(found, wanted, begin, end, tolerance, result);
    }
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

std::string WantedIfUnwritten(const std::string& dtype, const void* found, const void* wanted,
                              int64_t elements) {
  const auto size = static_cast<size_t>(DTypeBytes(dtype)), bytes = size * static_cast<size_t>(elements);
  std::string poison(bytes, '\0'), merged(static_cast<const char*>(found), bytes);
  FillPoison(poison.data(), static_cast<int64_t>(bytes));
  if (merged == poison) return "";
  for (size_t at = 0; at < bytes; at += size) {
    if (std::memcmp(merged.data() + at, poison.data() + at, size) == 0)
      std::memcpy(merged.data() + at, static_cast<const char*>(wanted) + at, size);
  }
  return merged;
}

int64_t FirstMissedFinite(const std::string& dtype, const void* found, const void* wanted, int64_t elements) {
  int64_t first = -1;
  WithDType(dtype, [&](auto type) {
    using Type = decltype(type);
    if constexpr (Type::kFloat) {
      const auto* a = static_cast<const typename Type::Stored*>(found);
      const auto* b = static_cast<const typename Type::Stored*>(wanted);
      const auto missed = [&](int64_t i) { return IsFinite(type, b[i]) > IsFinite(type, a[i]); };
      bool any = false;
      for (int64_t i = 0; i < elements; ++i) any |= missed(i);
      for (int64_t i = 0; any && first < 0; ++i) first = missed(i) ? i : -1;
    }
  });
  return first;
}

void WantFiniteWhere(const std::string& dtype, const void* other, void* wanted, int64_t elements) {
  WithDType(dtype, [&](auto type) {
    using Type = decltype(type);
    if constexpr (Type::kFloat) {
      const auto* a = static_cast<const typename Type::Stored*>(other);
      auto* b = static_cast<typename Type::Stored*>(wanted);
      for (int64_t i = 0; i < elements; ++i)
        if (!IsFinite(type, a[i])) b[i] = Type::Store(std::numeric_limits<float>::quiet_NaN());
    }
  });
}

}  // namespace kiln
