// Generates the input values with which kernels are checked and timed. Element i of parameter p depends only on (seed,
// p, dtype, i) and the allowed range, on every machine, so any process can compute any element: the interpreter
// computes single ones, and a runner fills whole buffers.
//
// Values are small, so that sums stay exact or well-behaved. Floats are uniform in [-1, 1) (f16 and bf16 on a grid that
// they represent exactly), i8 is -8..7, u8 0..15, i16 -32..31, i1 0..1, and i32, i64 and index 0..7 (valid as small
// indices). All functions are pure and may be called from any thread.
#pragma once

#include <compare>
#include <cstdint>
#include <string>

namespace kiln {

// Returns the size of an element in bytes; 0 if the name is not a dtype.
int64_t DTypeBytes(const std::string& dtype);

bool IsFloatDType(const std::string& dtype);

// The range of a parameter's generated values. If `least` is above `most`, all values are allowed, also 0. Otherwise a
// value outside the range, or a 0 where `zero` is false, is replaced by a whole number that is allowed.
struct DataRange {
  int64_t least = 0, most = -1;
  bool zero = true;  // whether 0 is allowed
  bool any() const { return least > most; }
  friend auto operator<=>(const DataRange&, const DataRange&) = default;
};

// Returns the generated value of element `index` of parameter `param` as a double, which represents every value
// exactly. `dtype` must be valid.
double InputValue(uint64_t seed, int param, const std::string& dtype, int64_t index,
                  const DataRange& range = {});

// Writes the generated values of elements [first, first + count) of parameter `param` to `out`. `dtype` must be valid.
void FillInput(uint64_t seed, int param, const std::string& dtype, int64_t first, int64_t count, void* out,
               const DataRange& range = {});

// Writes `count` stress inputs to `out`: floats of widely spread magnitudes, which are exponentially distributed
// numbers of both signs, multiplied by `scale` and a large factor of the dtype. However many there are, nine times in
// ten the largest exceeds the second by so much that exp of the difference is infinite. For |scale| up to 1.25 all are
// finite. Writes nothing for integers.
void FillStress(uint64_t seed, int param, const std::string& dtype, double scale, int64_t count, void* out);

// Fills `bytes` with a pattern that a kernel is unlikely to compute. As floats, these are large numbers of
// both signs, so that a missing store, or a missing initialization of a sum, a minimum or a maximum is
// noticed.
void FillPoison(void* out, int64_t bytes);

// Returns the element at `index` of an array in memory, as a double (an i64 beyond 2^53 is rounded).
double LoadElement(const std::string& dtype, const void* array, int64_t index);

}  // namespace kiln
