// Golden sketches of modules.
#pragma once

#include "testing/module_cases.h"
#include "tests/support/golden.h"

namespace kiln {

// The sketches are those of tests/golden/modules/NAME.txt, and compute what the program computes.
inline void ExpectModule(const std::string& name, absl::string_view space, const Program& program,
                         const Target& target = Target()) {
  ExpectGolden(absl::StrCat("modules/", name, ".txt"), SketchesText(space, program, target));
  ExpectSketchesCompute(space, program, target);
}

}  // namespace kiln
