// Expected texts in files: tests/golden/NAME. A file that is missing or differs fails; run the test with
// --update-goldens to write what it found, and read the difference before you commit it.
#pragma once

#include <string>

#include "absl/strings/string_view.h"

namespace kiln {

void ExpectGolden(const std::string& name, absl::string_view actual);

}  // namespace kiln
