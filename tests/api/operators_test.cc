// Tests that each of the 155 files of bench/operators is one task, with a sketch of the default space.
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
    const auto space = session.Sketches({.limit = 1});
    ASSERT_TRUE(space.ok()) << file.path() << ": " << space.status();
    EXPECT_EQ(space->status, absl::OkStatus()) << file.path();
    EXPECT_EQ(space->tasks.size(), 1) << file.path();
    ++files;
  }
  EXPECT_EQ(files, 155);
}

}  // namespace
}  // namespace kiln
