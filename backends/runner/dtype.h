// The dtypes as C++ types, for loops over raw arrays. Each has the type in which an element is stored, and functions
// that convert a stored element to a number and back.
#pragma once

#include <bit>
#include <cstdint>
#include <string>

namespace kiln {

template <typename T, bool is_float>
struct PlainDType {
  using Stored = T;
  static constexpr bool kFloat = is_float;
  static T Load(T stored) { return stored; }
  template <typename V>
  static T Store(V value) {
    return static_cast<T>(value);
  }
};

struct F64 : PlainDType<double, true> {};
struct F32 : PlainDType<float, true> {};
struct I1 : PlainDType<uint8_t, false> {};
struct I8 : PlainDType<int8_t, false> {};
struct U8 : PlainDType<uint8_t, false> {};
struct I16 : PlainDType<int16_t, false> {};
struct I32 : PlainDType<int32_t, false> {};
struct I64 : PlainDType<int64_t, false> {};

struct F16 {
  using Stored = _Float16;
  static constexpr bool kFloat = true;
  static float Load(_Float16 stored) { return stored; }
  static _Float16 Store(float value) { return static_cast<_Float16>(value); }
};

// bf16, stored as the upper 16 bits of an f32. Store truncates the lower bits, which are 0 in the values of FillInput.
struct BF16 {
  using Stored = uint16_t;
  static constexpr bool kFloat = true;
  static float Load(uint16_t stored) { return std::bit_cast<float>(static_cast<uint32_t>(stored) << 16); }
  static uint16_t Store(float value) { return static_cast<uint16_t>(std::bit_cast<uint32_t>(value) >> 16); }
};

// Calls `body` with an object of the type for the dtype, such as F32{}, and returns true. Returns false if there is no
// dtype of this name.
template <typename Body>
bool WithDType(const std::string& dtype, Body body) {
  if (dtype == "f32") return body(F32{}), true;
  if (dtype == "f64") return body(F64{}), true;
  if (dtype == "f16") return body(F16{}), true;
  if (dtype == "bf16") return body(BF16{}), true;
  if (dtype == "i1") return body(I1{}), true;
  if (dtype == "i8") return body(I8{}), true;
  if (dtype == "u8") return body(U8{}), true;
  if (dtype == "i16") return body(I16{}), true;
  if (dtype == "i32") return body(I32{}), true;
  if (dtype == "i64" || dtype == "index") return body(I64{}), true;
  return false;
}

}  // namespace kiln
