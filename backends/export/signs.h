// Finds out whether integers are signed. MLIR's types have no sign, but its operations do.
//
//   SignsOf(program)[buffer]
//
// kSigned or kUnsigned: every operation to which the sign matters and that reads the buffer (or, for an
// output, computes it) uses that sign. Copies are looked through. kUnsaid: no operation has a sign, or they
// differ. Pure.
#pragma once

#include <vector>

#include "lang/program/program.h"

namespace kiln {

enum class Sign { kUnsaid, kSigned, kUnsigned };

// Returns the sign of each buffer; kUnsaid for floats, i1, index and u8.
std::vector<Sign> SignsOf(const Program& program);

}  // namespace kiln
