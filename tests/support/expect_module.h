// Compares the sketches of a module with golden files.
#pragma once

#include "testing/module_cases.h"
#include "tests/support/golden.h"

namespace kiln {

// Expects that the space's sketches equal those in tests/golden/modules/NAME.txt and compute the same as the
// program.
inline void ExpectModule(const std::string& name, absl::string_view space, const Program& program,
                         const Target& target = Target()) {
  ExpectGolden(absl::StrCat("modules/", name, ".txt"), SketchesText(space, program, target));
  ExpectSketchesCompute(space, program, target);
}

}  // namespace kiln
