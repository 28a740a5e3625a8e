// Tests that Kiln's default space contains the schedules that tests of TVM's MetaSchedule show for five operators on
// CPUs: the same decisions make traces that replay (docs/sketches.md).
#include <gtest/gtest.h>

#include "absl/strings/str_cat.h"
#include "backends/import/import.h"
#include "modules/space.h"
#include "test_paths.h"
#include "tests/support/golden.h"
#include "trace/enumerate.h"
#include "trace/replay.h"
#include "trace/text.h"

namespace kiln {
namespace {

struct TvmSchedule {
  const char* name;
  int vector_bytes;  // of the machine whose vectors its innermost tile fills
  std::vector<std::pair<const char*, const char*>> decisions;
};

const TvmSchedule kSchedules[] = {
    {"GMM0", 32, {{"S0", "4,1,16,2"}, {"S1", "2,8,1,8"}, {"R3", "128,1"}, {"max-unroll", "16"}}},
    {"C2D0",
     16,
     {{"S0", "7,1,2,8"},
      {"S1", "4,28,1,1"},
      {"S2", "2,8,1,4"},
      {"R4", "7,1"},
      {"R5", "7,1"},
      {"R6", "1,3"},
      {"pad/location", "1"},
      {"max-unroll", "0"}}},
    {"T2D0",
     32,
     // TVM tiles rows by 1,4,1,2, columns by 2,1,1,4 and the taps of the window by 2,2. In Kiln, skip-zeros has made
     // iters of their own of the remainders of these by two (S1 and S3), and left out half of the taps.
     {{"S0", "1,4,1,1"},
      {"S1", "1,1,1,2"},
      {"S2", "2,1,1,2"},
      {"S3", "1,1,1,2"},
      {"S4", "8,4,1,8"},
      {"R6", "2,1"},
      {"R7", "2,1"},
      {"R8", "64,8"},
      {"insert_slice_out.dense.1/location", "-1"},
      {"max-unroll", "64"}}},
    {"CAP0",
     32,
     {{"S0", "2,4,1,1"},
      {"S1", "1,4,2,1"},
      {"S2", "1,1,1,4"},
      {"S3", "1,4,1,1"},
      {"S4", "1,2,1,16"},
      {"R6", "1,3"},
      {"R7", "3,1"},
      {"R8", "1,32"},
      {"R9", "4,1"},
      {"pad/location", "-1"},
      {"max-unroll", "16"}}},
    {"NRM0", 32, {{"lanes", "0"}, {"max-unroll", "0"}}},
};

class TvmSchedules : public testing::TestWithParam<TvmSchedule> {};

TEST_P(TvmSchedules, AreTracesOfTheDefaultSpace) {
  const auto imported =
      ImportFile(absl::StrCat(KILN_SOURCE_DIR, "/bench/operators/", GetParam().name, ".mlir"));
  ASSERT_TRUE(imported.ok()) << imported.status();
  Target target;
  target.vector_bytes = GetParam().vector_bytes;
  std::string space = "pin site=write-reuse to=0 | pin site=read-reuse to=0 | ";
  for (const auto& [site, decision] : GetParam().decisions)
    absl::StrAppend(&space, "pin site=", site, " to=", decision, " | ");
  const auto sketches = Enumerate(ParseSpace(absl::StrCat(space, "cpu")).value(), imported->program, target);
  ASSERT_TRUE(sketches.ok()) << sketches.status();
  ASSERT_EQ(sketches->sketches.size(), 1u)
      << (sketches->dropped.empty() ? absl::OkStatus() : sketches->dropped[0].reason);
  EXPECT_EQ(sketches->sketches[0].log_support, 0);

  std::string text = Print(sketches->sketches[0].trace);
  ExpectGolden(absl::StrCat("trace/tvm_", GetParam().name, ".trace"), text);
  const auto trace = ParseTrace(text);
  ASSERT_TRUE(trace.ok()) << trace.status();
  const auto replayed = Replay(*trace, imported->program, target);
  ASSERT_TRUE(replayed.ok()) << replayed.status();
  EXPECT_TRUE(Verify(replayed->program()).ok());
}

INSTANTIATE_TEST_SUITE_P(Operators, TvmSchedules, testing::ValuesIn(kSchedules),
                         [](const auto& info) { return info.param.name; });

}  // namespace
}  // namespace kiln
