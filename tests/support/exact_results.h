// Compares results of compiled programs with the interpreter's, bit by bit, but for NaNs of f32 and f64 and for zeros
// whose sign is unspecified.
//
//   const std::set<Id> either_zero = EitherZero(program);
//   const std::string difference = Difference(type, found, wanted, either_zero.contains(buffer));
#pragma once

#include <set>
#include <string>

#include "lang/program/program.h"

namespace kiln {

// Returns the float buffers of the program in which compiled code may write zeros of either sign, by itself or because
// the values are computed from such a buffer.
std::set<Id> EitherZero(const Program& program);

// Compares the bytes of two buffers. For f32, f64, i32 and i64, returns a description of the first element that
// differs: all NaNs count as equal, and with `either_zero` also 0.0 and -0.0. For other types, each bit counts, and the
// description names no element. Returns "" if the buffers are equal.
std::string Difference(DType type, const char* found, const std::string& wanted, bool either_zero);

}  // namespace kiln
