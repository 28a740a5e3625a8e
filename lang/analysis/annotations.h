// Named numbers on blocks and loops: (name, value) pairs in Program::lists, values within 32 bits.
#pragma once

#include "lang/program.h"

namespace kiln {

void SetAnnotation(Program& program, Range& annotations, absl::string_view key, int64_t value);

}  // namespace kiln
