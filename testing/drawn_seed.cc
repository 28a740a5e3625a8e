#include "testing/drawn_seed.h"

#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <random>

#include "absl/strings/numbers.h"

namespace kiln {

uint64_t DrawnSeed() {
  uint64_t seed = 0;
  const char* given = std::getenv("KILN_SEED");
  if (given == nullptr) {
    seed = std::random_device()();
  } else if (!absl::SimpleAtoi(given, &seed)) {
    ADD_FAILURE() << "KILN_SEED is \"" << given << "\", but a seed is a number from 0 to 2^64 - 1";
  }
  const testing::TestInfo& test = *testing::UnitTest::GetInstance()->current_test_info();
  std::printf("  again: KILN_SEED=%llu %s --gtest_filter=%s.%s\n", static_cast<unsigned long long>(seed),
              std::filesystem::read_symlink("/proc/self/exe").c_str(), test.test_suite_name(), test.name());
  return seed;
}

}  // namespace kiln
