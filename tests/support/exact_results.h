// Compares results of compiled programs with the interpreter's, bit by bit.
//
//   const std::set<Id> either_zero = EitherZero(program);
//   const std::string difference = Difference(type, found, wanted, either_zero.contains(buffer));
#pragma once

#include <set>
#include <string>

#include "lang/program/program.h"

namespace kiln {

// Returns the buffers in which a zero may have either sign.
std::set<Id> EitherZero(const Program& program);

// Returns a description of the first element that differs; empty if none does. Any NaN equals any other.
std::string Difference(DType type, const char* found, const std::string& wanted, bool either_zero);

}  // namespace kiln
