#include "backends/runner/data.h"

#include <bit>
#include <cstring>

#include "backends/runner/dtype.h"

namespace kiln {
namespace {

constexpr uint64_t kGolden = 0x9e3779b97f4a7c15;

inline uint64_t Mix(uint64_t x) {
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
  x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
  return x ^ (x >> 31);
}

inline uint64_t Key(uint64_t seed, int param) {
  return Mix(Mix(seed + kGolden) + static_cast<uint64_t>(param));
}

inline uint64_t Draw(uint64_t key, int64_t index) {
  return Mix(key + kGolden * static_cast<uint64_t>(index));
}

inline double Value(F64, uint64_t r) { return static_cast<double>(r >> 11) * 0x1p-52 - 1; }
inline float Value(F32, uint64_t r) { return static_cast<float>(r >> 40) * 0x1p-23f - 1; }
inline float Value(F16, uint64_t r) { return static_cast<float>(r >> 53) * 0x1p-10f - 1; }
inline float Value(BF16, uint64_t r) { return static_cast<float>(r >> 55) * 0x1p-8f - 1; }
inline int Value(I1, uint64_t r) { return static_cast<int>(r >> 63); }
inline int Value(I8, uint64_t r) { return static_cast<int>(r >> 60) - 8; }
inline int Value(U8, uint64_t r) { return static_cast<int>(r >> 60); }
inline int Value(I16, uint64_t r) { return static_cast<int>(r >> 58) - 32; }
inline int Value(I32, uint64_t r) { return static_cast<int>(r >> 61); }
inline int Value(I64, uint64_t r) { return static_cast<int>(r >> 61); }

template <typename V>
V InRange(V value, uint64_t drawn, const DataRange& range) {
  if (range.any()) return value;
  const auto least = static_cast<V>(range.least), most = static_cast<V>(range.most);
  if (value >= least && value <= most && (value != 0 || range.zero)) return value;
  const auto span = static_cast<uint64_t>(range.most - range.least) + 1;
  int64_t inside = range.least + static_cast<int64_t>((drawn >> 8) % span);
  if (inside == 0 && !range.zero) inside = range.most > 0 ? range.most : range.least;
  return static_cast<V>(inside);
}

// Returns -log2 of a uniform random number, interpolated linearly between powers of two; from 0 to 41.
inline double Exponential(uint64_t r) {
  constexpr int64_t kOne = std::bit_cast<int64_t>(0x1p63);
  const auto uniform = static_cast<double>(static_cast<int64_t>(r >> 1 | uint64_t{1} << 22));
  return static_cast<double>(kOne - std::bit_cast<int64_t>(uniform)) * 0x1p-52;
}

// The factor of stress inputs for a dtype: at least 11 times the largest number whose exp is finite.
constexpr double Reach(F64) { return 8192; }
constexpr double Reach(auto) { return 1024; }

}  // namespace

int64_t DTypeBytes(const std::string& dtype) {
  int64_t bytes = 0;
  WithDType(dtype, [&](auto type) { bytes = sizeof(typename decltype(type)::Stored); });
  return bytes;
}

bool IsFloatDType(const std::string& dtype) {
  bool is_float = false;
  WithDType(dtype, [&](auto type) { is_float = decltype(type)::kFloat; });
  return is_float;
}

double InputValue(uint64_t seed, int param, const std::string& dtype, int64_t index, const DataRange& range) {
  double value = 0;
  WithDType(dtype, [&](auto type) {
    const uint64_t drawn = Draw(Key(seed, param), index);
    value = InRange(Value(type, drawn), drawn, range);
  });
  return value;
}

void FillInput(uint64_t seed, int param, const std::string& dtype, int64_t first, int64_t count, void* out,
               const DataRange& range) {
  const uint64_t key = Key(seed, param);
  WithDType(dtype, [&](auto type) {
    auto* elements = static_cast<typename decltype(type)::Stored*>(out);
    for (int64_t i = 0; i < count; ++i) {
      const uint64_t drawn = Draw(key, first + i);
      elements[i] = type.Store(InRange(Value(type, drawn), drawn, range));
    }
  });
}

void FillStress(uint64_t seed, int param, const std::string& dtype, double scale, int64_t count, void* out) {
  const uint64_t key = Key(seed, param);
  WithDType(dtype, [&](auto type) {
    if constexpr (decltype(type)::kFloat) {
      auto* elements = static_cast<typename decltype(type)::Stored*>(out);
      const double scales[2] = {scale * Reach(type), -scale * Reach(type)};
      for (int64_t i = 0; i < count; ++i) {
        const uint64_t r = Draw(key, i);
        elements[i] = type.Store(static_cast<decltype(type.Load({}))>(scales[r & 1] * Exponential(r)));
      }
    }
  });
}

void FillPoison(void* out, int64_t bytes) {
  constexpr uint64_t kPattern[2] = {0x7b7b7b7b7b7b7b7b, 0xfbfbfbfbfbfbfbfb};
  constexpr int64_t kSize = sizeof(kPattern);
  char* at = static_cast<char*>(out);
  int64_t i = 0;
  for (; i + kSize <= bytes; i += kSize) std::memcpy(at + i, kPattern, kSize);
  std::memcpy(at + i, kPattern, static_cast<size_t>(bytes - i));
}

double LoadElement(const std::string& dtype, const void* array, int64_t index) {
  double value = 0;
  WithDType(dtype, [&](auto type) {
    value = static_cast<double>(type.Load(static_cast<const typename decltype(type)::Stored*>(array)[index]));
  });
  return value;
}

}  // namespace kiln
