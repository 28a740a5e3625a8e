// Compares text with the golden files of Kiln's own tests, tests/golden/NAME.
#pragma once

#include <string>

#include "test_paths.h"
#include "testing/golden.h"

namespace kiln {

inline void ExpectGolden(const std::string& name, absl::string_view actual) {
  ExpectGoldenFile(std::filesystem::path(KILN_SOURCE_DIR) / "tests/golden" / name, actual);
}

}  // namespace kiln
