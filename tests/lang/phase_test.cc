#include "lang/base/phase.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace kiln {
namespace {

std::vector<std::string>& Seen() {
  static auto* seen = new std::vector<std::string>;
  return *seen;
}

TEST(Phase, IsThatOfTheInnermostScopeAndIsWatched) {
  EXPECT_STREQ(Phase::Current(), "");
  Phase::Watch([](const char* now) { Seen().emplace_back(now); });
  {
    const Phase race("race");
    {
      const Phase build("build");
      EXPECT_STREQ(Phase::Current(), "build");
    }
    EXPECT_STREQ(Phase::Current(), "race");
  }
  EXPECT_STREQ(Phase::Current(), "");
  Phase::Watch(nullptr);
  const Phase unseen("training");
  EXPECT_THAT(Seen(), testing::ElementsAre("race", "build", "race", ""));
}

}  // namespace
}  // namespace kiln
