#include "api/internal/store/flags_text.h"

#include <gtest/gtest.h>

namespace kiln::api {
namespace {

TEST(FlagsText, IsWordsForPeople) {
  RecordRow record;
  record.flags =
      RecordFlags::Parse("threads=1 contract reassociated relative disturbed retaken=20 preempted=2 race");
  for (int i = 0; i < 20; ++i) record.raw_samples.insert(record.raw_samples.end(), {1e-3, 1.0});
  EXPECT_EQ(FlagsText(record),
            "1 thread, multiply-adds fused, sums reordered, raced, 18 of 20 samples quiet");
  record.raw_samples.clear();  // older databases have none
  EXPECT_EQ(FlagsText(record),
            "1 thread, multiply-adds fused, sums reordered, raced, most samples disturbed");
}

TEST(FlagsText, KeepsWordsThatItDoesNotKnow) {
  EXPECT_EQ(FlagsText(RecordFlags::Parse("threads=2 of-a-measurer x=3"), {}),
            "2 threads, of-a-measurer, x=3");
  EXPECT_EQ(FlagsText(RecordFlags::Parse(""), {}), "");
}

TEST(NoiseText, SaysWhyATimeIsNotToBeReliedOn) {
  EXPECT_EQ(NoiseText(RecordFlags::Parse("race"), {1, 20}, 14.4e-3, 2.27e-3), "");
  EXPECT_EQ(NoiseText(RecordFlags::Parse("noisy race"), {18, 20}, 14.4e-3, 2.27e-3),
            "the search timed this program at 2.27 ms, the race at 14.4 ms");
  EXPECT_EQ(NoiseText(RecordFlags::Parse("others=3 noisy race"), {2, 20}, 1e-3, 1e-3),
            "only 2 of 20 samples quiet; 3 threads of other programs wanted the cores");
  EXPECT_EQ(NoiseText(RecordFlags::Parse("noisy"), {}, 0, 0),
            "something else used this machine while it was timed");
}

}  // namespace
}  // namespace kiln::api
