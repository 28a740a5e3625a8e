// Expects that a text equals the golden file tests/golden/NAME. With --update-goldens, writes the text to this file
// (testing/golden.h).
#pragma once

#include <string>

#include "test_paths.h"
#include "testing/golden.h"

namespace kiln {

inline void ExpectGolden(const std::string& name, absl::string_view actual) {
  ExpectGoldenFile(std::filesystem::path(KILN_SOURCE_DIR) / "tests/golden" / name, actual);
}

}  // namespace kiln
