// Tests that the schedules of lesson 9, written by hand for AVX2, have the traces in the golden files, and that
// replaying these traces gives the same programs.
#include <gtest/gtest.h>

#include "absl/strings/str_cat.h"
#include "backends/cpu/targets.h"
#include "backends/import/import.h"
#include "examples/by_hand.h"
#include "lang/text/text.h"
#include "lang/verify/verify.h"
#include "test_paths.h"
#include "testing/scheduled.h"
#include "tests/support/golden.h"
#include "trace/replay.h"
#include "trace/text.h"

namespace kiln {
namespace {

std::string NameOf(absl::string_view file) {
  file.remove_prefix(file.rfind('/') + 1);
  return std::string(file.substr(0, file.find('.')));
}

class ByHand : public testing::TestWithParam<by_hand::Lesson> {};

TEST_P(ByHand, IsAStraightProgramThatReplays) {
  const auto imported = ImportFile(absl::StrCat(KILN_SOURCE_DIR, "/", GetParam().file));
  ASSERT_TRUE(imported.ok()) << imported.status();
  const Target target = NamedTarget("x86-64-v3").value();
  Schedule s = Scheduled(imported->program, target);
  GetParam().schedule(s);
  ASSERT_TRUE(s.ok()) << s.status();
  const std::string text = Print(Trace::Of(s));
  ExpectGolden(absl::StrCat("trace/by_hand_", NameOf(GetParam().file), ".trace"), text);

  const auto trace = ParseTrace(text);
  ASSERT_TRUE(trace.ok()) << trace.status();
  EXPECT_TRUE(trace->choices.empty());
  const auto replayed = Replay(*trace, imported->program, target);
  ASSERT_TRUE(replayed.ok()) << replayed.status();
  EXPECT_TRUE(replayed->sites.empty());
  EXPECT_TRUE(Verify(replayed->program()).ok());
  EXPECT_EQ(ToString(replayed->program()), ToString(s.program()));
}

INSTANTIATE_TEST_SUITE_P(Kernels, ByHand, testing::ValuesIn(by_hand::kLessons),
                         [](const auto& info) { return NameOf(info.param.file); });

}  // namespace
}  // namespace kiln
