// Tests that each of the 155 files of bench/operators is one task.
#include <gtest/gtest.h>

#include <filesystem>

#include "api/session.h"
#include "test_paths.h"

namespace kiln {
namespace {

TEST(Operators, AreOneTaskEach) {
  int files = 0;
  for (const auto& file :
       std::filesystem::directory_iterator(std::string(KILN_SOURCE_DIR) + "/bench/operators")) {
    if (file.path().extension() != ".mlir") continue;
    api::Session session;
    ASSERT_EQ(session.Load({.path = file.path()}), absl::OkStatus()) << file.path();
    EXPECT_EQ(session.tasks().size(), 1) << file.path();
    ++files;
  }
  EXPECT_EQ(files, 155);
}

}  // namespace
}  // namespace kiln
