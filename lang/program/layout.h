// Checks layouts (lang/program/buffer.h), counts the elements of buffers, and applies swizzles. Pure functions.
#pragma once

#include "absl/status/status.h"
#include "lang/program/program.h"

namespace kiln {

// Checks the swizzle and the kinds of axes of a buffer's layout; kFailedPrecondition if one is wrong. A swizzle needs
// axes, permutes the addresses (IsOneToOne), and concerns address bits below 40. Lane, warp and register axes exclude
// address axes and a swizzle, need warp or warpgroup storage, and have at most 32 lanes and 1 warp (a warpgroup: 4).
absl::Status CheckLayout(const Program& program, Id buffer);

// Returns the number of elements of the buffer's shape. Sizes that are parameters count with their upper bounds.
int64_t ElementsOf(const Program& program, Id buffer);
int64_t BytesOf(const Program& program, Id buffer);  // the bytes of these elements, in the buffer's dtype

// Returns how many elements the buffer's memory has room for: by the axes of its layout, or by its shape without a
// layout.
int64_t LayoutElements(const Program& program, Id buffer);

// Returns the address to which the swizzle moves `address`.
inline int64_t Swizzled(Swizzle s, int64_t address) {
  return address ^ (((address >> s.from) & ((int64_t{1} << s.bits) - 1)) << s.to);
}

// True if the swizzle permutes the addresses of a memory with this many elements. Complete blocks of 2^(to +
// bits) elements always qualify; the addresses of an incomplete last block must stay within the memory.
bool IsOneToOne(Swizzle s, int64_t elements);

}  // namespace kiln
