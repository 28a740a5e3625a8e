// Whether integers have a sign, as far as a program tells: MLIR's have none, its operations do.
//
//   SignsOf(program)[buffer]
//
// kSigned and kUnsigned: every operation that reads the buffer's values (of an output: that makes them),
// copies aside, and to which it matters takes them so. kUnsaid: none does, or they differ. Pure.
#pragma once

#include <vector>

#include "lang/program/program.h"

namespace kiln {

enum class Sign { kUnsaid, kSigned, kUnsigned };

// By buffer; floats, i1 and index are kUnsaid.
std::vector<Sign> SignsOf(const Program& program);

}  // namespace kiln
