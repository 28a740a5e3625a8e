// Tests that every test of a GPU schedule checks it in full: owners, thread clocks, ptxas, and the emulator in all modes.
#include <gtest/gtest.h>

#include <string>

#include "absl/algorithm/container.h"
#include "absl/strings/match.h"
#include "tests/house/source_tree.h"

namespace kiln::house {
namespace {

// What makes kernels of a schedule, and what checks them. Schedules of testing/gpu_schedules.h are checked once.
constexpr const char* kMakers[] = {"tests/gpu/on_gpu.h", "testing/gpu_schedules.h",
                                   "tests/support/random_tiles.h", "backends/lower/kernels/plan_kernels.h"};
constexpr const char* kChecks[] = {"ExpectSameOnGpu(", "ExpectPlanOnGpu(", "ExpectFound("};

// Those of the language, of plans, features, limits and proofs have no LLVM. The fuzzer runs its programs in all modes
// itself. The last four test what is around the kernels.
constexpr const char* kOthers[] = {
    "tests/lang/",
    "tests/lower/",
    "tests/search/",
    "tests/validator/",
    "tests/backends/gpu_fuzz.cc",
    "tests/gpu/build_kernels_test.cc",
    "tests/gpu/bundle_test.cc",
    "tests/gpu/export_test.cc",
    "tests/gpu/static_machine_test.cc",
};

bool Contains(const TextFile& file, absl::string_view part) {
  return absl::c_any_of(file.lines, [&](const std::string& line) { return absl::StrContains(line, part); });
}

TEST(GpuSchedules, AreCheckedInAllModes) {
  int tests = 0;
  for (const TextFile& file : ReadTree()) {
    const auto is_below = [&](absl::string_view folder) { return absl::StartsWith(file.path, folder); };
    if (!is_below("tests/") || !absl::EndsWith(file.path, ".cc") || is_below("tests/house/") ||
        absl::c_any_of(kOthers, is_below))
      continue;
    const bool has_kernels =
        absl::c_any_of(kMakers, [&](const char* maker) { return Contains(file, maker); });
    if (!has_kernels || !Contains(file, "Bind")) continue;
    ++tests;
    EXPECT_TRUE(absl::c_any_of(kChecks, [&](const char* check) { return Contains(file, check); }))
        << file.path
        << " makes kernels of a schedule, and does not call ExpectSameOnGpu (tests/gpu/on_gpu.h)";
  }
  EXPECT_GT(tests, 2);
}

}  // namespace
}  // namespace kiln::house
