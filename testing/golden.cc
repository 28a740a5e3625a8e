#include "testing/golden.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <sstream>

#include "absl/strings/str_split.h"

namespace kiln {
namespace {

// Returns the difference as EXPECT_EQ prints it, without both whole texts.
std::string DiffOf(absl::string_view expected, absl::string_view actual) {
  return testing::internal::edit_distance::CreateUnifiedDiff(absl::StrSplit(expected, '\n'),
                                                             absl::StrSplit(actual, '\n'));
}

}  // namespace

bool UpdatesGoldens() {
  const std::vector<std::string> arguments = testing::internal::GetArgvs();
  return std::find(arguments.begin(), arguments.end(), "--update-goldens") != arguments.end();
}

void ExpectGoldenFile(const std::filesystem::path& file, absl::string_view actual) {
  if (UpdatesGoldens()) {
    std::filesystem::create_directories(file.parent_path());
    std::ofstream(file) << actual;
    return;
  }
  std::ifstream in(file);
  std::stringstream expected;
  expected << in.rdbuf();
  ASSERT_TRUE(in.is_open()) << file << " is missing; --update-goldens writes it. Found:\n" << actual;
  if (expected.str() == actual) return;
  ADD_FAILURE() << file << " (-) and what was found (+) differ; --update-goldens writes what was found:\n"
                << DiffOf(expected.str(), actual);
}

}  // namespace kiln
