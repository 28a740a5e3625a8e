#include "tests/support/golden.h"
#include "test_paths.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>

namespace kiln {
namespace {

bool Update() {
  const std::vector<std::string> arguments = testing::internal::GetArgvs();
  return std::find(arguments.begin(), arguments.end(), "--update-goldens") != arguments.end();
}

}  // namespace

void ExpectGolden(const std::string& name, absl::string_view actual) {
  const std::filesystem::path path = std::filesystem::path(KILN_SOURCE_DIR) / "tests/golden" / name;
  if (Update()) {
    std::filesystem::create_directories(path.parent_path());
    std::ofstream(path) << actual;
    return;
  }
  std::ifstream in(path);
  std::stringstream expected;
  expected << in.rdbuf();
  ASSERT_TRUE(in.is_open()) << path << " is missing; --update-goldens writes it. Found:\n" << actual;
  EXPECT_EQ(expected.str(), std::string(actual))
      << "in " << path << "; --update-goldens writes what was found";
}

}  // namespace kiln
