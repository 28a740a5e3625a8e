// Compares texts with expected ones in files, called goldens.
//
//   TEST(Print, OfASum) { ExpectGoldenFile("/my/project/goldens/sum.txt", Print(sum)); }
//
// Run the test program with --update-goldens to write what was found instead of comparing, and read the difference
// before you commit. Errors: the current test fails if the file is missing or differs.
#pragma once

#include <filesystem>

#include "absl/strings/string_view.h"

namespace kiln {

// Returns true if the program was started with --update-goldens.
bool UpdatesGoldens();

void ExpectGoldenFile(const std::filesystem::path& file, absl::string_view actual);

}  // namespace kiln
