// Checks layouts (lang/program/buffer.h) and computes where elements lie. Pure functions of buffers.
#pragma once

#include "absl/status/status.h"
#include "lang/program/program.h"

namespace kiln {

// Returns kFailedPrecondition if the swizzle is not one to one or the kinds of axes are inconsistent, otherwise OK.
absl::Status CheckLayout(const Program& program, Id buffer);

// Returns the number of elements of the buffer's shape; the most that are possible if sizes are parameters.
int64_t ElementsOf(const Program& program, Id buffer);
int64_t BytesOf(const Program& program, Id buffer);  // their size

// Returns the number of elements in the buffer's memory: by its layout's axes, or by its shape.
int64_t LayoutElements(const Program& program, Id buffer);

// Returns the address to which the swizzle moves `address`.
inline int64_t Swizzled(Swizzle s, int64_t address) {
  return address ^ (((address >> s.from) & ((int64_t{1} << s.bits) - 1)) << s.to);
}

// True if the swizzle permutes the addresses of a memory with this many elements. Complete blocks of 2^(to +
// bits) elements always qualify; the addresses of an incomplete last block must stay within the memory.
bool IsOneToOne(Swizzle s, int64_t elements);

}  // namespace kiln
