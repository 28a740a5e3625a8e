// The values that kernels are run on, and the types they have. Element i of parameter p depends on (seed, p,
// dtype, i) alone, on every machine, so any process can make any element again: the interpreter asks for
// single ones, a runner fills whole buffers.
//
// Values are small enough that sums stay exact or tame: floats are uniform in [-1, 1) (f16 and bf16 on a grid
// that they represent exactly), i8 is -8..7, u8 0..15, i16 -32..31, i1 0..1, and i32, i64 and index 0..7
// (valid as small indices). All functions are pure and may be called from any thread.
#pragma once

#include <cstdint>
#include <string>

namespace kiln {

// Bytes of one element in memory; 0 for a name that is no dtype.
int64_t DTypeBytes(const std::string& dtype);

bool IsFloatDType(const std::string& dtype);

// Where the data of a parameter must lie; `least` above `most`: anywhere. Values that lie there stay what
// they would be, and others are replaced by whole numbers of the range.
struct DataRange {
  int64_t least = 0, most = -1;
  bool zero = true;  // 0 may be among them
  bool any() const { return least > most; }
};

// The element as a number (all of them are exact in a double). `dtype` must be one.
double InputValue(uint64_t seed, int param, const std::string& dtype, int64_t index,
                  const DataRange& range = {});

// Writes elements [first, first + count) to `out`. `dtype` must be one.
void FillInput(uint64_t seed, int param, const std::string& dtype, int64_t first, int64_t count, void* out,
               const DataRange& range = {});

// Writes floats that lie far apart: `scale` times numbers of both signs
// that are distributed exponentially, so that of however many the largest exceeds the second, nine times in
// ten, by so much that exp of the difference is infinite. For |scale| up to 1.25 all are finite.
void FillStress(uint64_t seed, int param, const std::string& dtype, double scale, int64_t count, void* out);

// Fills `bytes` with a pattern that a kernel is unlikely to compute: as floats large numbers of both signs,
// so that neither a missing store nor a missing initialization of a sum, a minimum or a maximum goes unseen.
void FillPoison(void* out, int64_t bytes);

// The element at `index` of an array in memory, as a double (an i64 beyond 2^53 is rounded).
double LoadElement(const std::string& dtype, const void* array, int64_t index);

}  // namespace kiln
