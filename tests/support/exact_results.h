// Compares results of compiled programs with the interpreter's, bit by bit, but for NaNs and for zeros whose sign is
// unspecified.
//
//   const std::set<Id> either_zero = EitherZero(program);
//   const std::string difference = Difference(type, found, wanted, either_zero.contains(buffer));
#pragma once

#include <set>
#include <string>

#include "lang/program/program.h"

namespace kiln {

// Returns the buffers of the program in which compiled code may write zeros of either sign.
std::set<Id> EitherZero(const Program& program);

// Compares the bytes of two buffers element by element. Returns a description of the first element that differs; "" if
// none does. All NaNs count as equal, and with `either_zero` also 0.0 and -0.0.
std::string Difference(DType type, const char* found, const std::string& wanted, bool either_zero);

}  // namespace kiln
