#include "testing/golden.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <sstream>

namespace kiln {

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
  EXPECT_EQ(expected.str(), std::string(actual))
      << "in " << file << "; --update-goldens writes what was found";
}

}  // namespace kiln
