#include "search/database/record_flags.h"

#include <gtest/gtest.h>

namespace kiln {
namespace {

TEST(RecordFlags, WordsAreReadAndPrintedBack) {
  constexpr absl::string_view kAll =
      "threads=2 contract reassociated cold-cache in-model relative spot-checked uninterpreted prepare disturbed "
      "retaken=20 preempted=7 others=3 noisy race proven static emulated without=short-loops,prefetch-streams";
  const RecordFlags flags = RecordFlags::Parse(kAll);
  EXPECT_EQ(flags.Print(), kAll);
  EXPECT_EQ(flags.threads, 2);
  EXPECT_TRUE(flags.cold);
  EXPECT_EQ(flags.preempted, 7);
  EXPECT_FALSE(flags.policies.Has(Policy::kShortLoops));
  EXPECT_TRUE(flags.unknown.empty());
  EXPECT_EQ(RecordFlags::Parse("proven race retaken=20").Print(), "retaken=20 race proven");
  EXPECT_EQ(RecordFlags::Parse("").Print(), "");
}

TEST(RecordFlags, OldSpellingsAreRead) {
  const RecordFlags flags = RecordFlags::Parse("contraction race");
  EXPECT_EQ(flags, (RecordFlags{.contract = true, .race = true}));
  EXPECT_EQ(flags.Print(), "contract race");
}

TEST(RecordFlags, WordsThatAreNotKnownAreKept) {
  const RecordFlags flags =
      RecordFlags::Parse("noisy-ish race of-a-measurer x=3 others=x others= empted=4 race=1 without=what");
  EXPECT_TRUE(flags.race);
  EXPECT_FALSE(flags.noisy);
  EXPECT_EQ(flags.others, 0);
  EXPECT_EQ(flags.preempted, 0);
  EXPECT_EQ(flags.Print(), "race noisy-ish of-a-measurer x=3 others=x others= empted=4 race=1 without=what");
}

}  // namespace
}  // namespace kiln
