// What a layout must be (lang/program/buffer.h), and where elements lie: pure functions of a program's buffers.
#pragma once

#include "absl/status/status.h"
#include "lang/program/program.h"

namespace kiln {

// kFailedPrecondition if the swizzle is not one to one, or kinds of axes do not fit each other or the scope.
absl::Status CheckLayout(const Program& program, Id buffer);

// Elements of a buffer by its shape, whatever its layout; where sizes are parameters, at most so many.
int64_t ElementsOf(const Program& program, Id buffer);

// Elements of the memory of a buffer: of its layout's axes, or of its shape.
int64_t LayoutElements(const Program& program, Id buffer);

// The address that the swizzle makes of one.
inline int64_t Swizzled(Swizzle s, int64_t address) {
  return address ^ (((address >> s.from) & ((int64_t{1} << s.bits) - 1)) << s.to);
}

// Whether it permutes the addresses of a memory of so many elements: blocks of 2^(to + bits) are, and what is
// left of the last one must stay within.
bool IsOneToOne(Swizzle s, int64_t elements);

}  // namespace kiln
