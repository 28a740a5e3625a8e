// Tests that `kiln space` imports each of the 155 files of bench/operators as one task.
#include <gtest/gtest.h>

#include <filesystem>

#include "test_paths.h"
#include "tests/support/run_kiln.h"

namespace kiln {
namespace {

TEST(Operators, AreOneTaskEach) {
  int files = 0;
  for (const auto& file :
       std::filesystem::directory_iterator(std::string(KILN_SOURCE_DIR) + "/bench/operators")) {
    if (file.path().extension() != ".mlir") continue;
    const Ran ran = RunKiln({"space", file.path(), "--limit", "1", "--json"});
    ASSERT_EQ(ran.exit_code, 0) << file.path() << ": " << ran.err;
    EXPECT_EQ(ran.json()["tasks"].size(), 1) << file.path();
    ++files;
  }
  EXPECT_EQ(files, 155);
}

}  // namespace
}  // namespace kiln
