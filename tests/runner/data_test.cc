#include "backends/runner/data.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <string>
#include <vector>

namespace kiln {
namespace {

const char* const kDTypes[] = {"f64", "f32", "f16", "bf16", "i1", "i8", "u8", "i16", "i32", "i64", "index"};

TEST(InputData, IsTheSameElementByElementAndInAnyPieces) {
  for (const std::string dtype : kDTypes) {
    const int64_t size = DTypeBytes(dtype);
    std::vector<char> whole(static_cast<size_t>(100 * size)), pieces(whole.size());
    FillInput(1, 2, dtype, 0, 100, whole.data());
    FillInput(1, 2, dtype, 0, 33, pieces.data());
    FillInput(1, 2, dtype, 33, 67, pieces.data() + 33 * size);
    EXPECT_EQ(whole, pieces) << dtype;
    for (int64_t i = 0; i < 100; ++i) {
      EXPECT_EQ(LoadElement(dtype, whole.data(), i), InputValue(1, 2, dtype, i)) << dtype << " " << i;
    }
  }
}

TEST(InputData, HasTheRangesThatItsHeaderPromises) {
  const auto range = [](const std::string& dtype) {
    double low = 1e9, high = -1e9;
    for (int64_t i = 0; i < 10000; ++i) {
      low = std::min(low, InputValue(3, 0, dtype, i));
      high = std::max(high, InputValue(3, 0, dtype, i));
    }
    return std::pair(low, high);
  };
  EXPECT_EQ(range("i1"), std::pair(0.0, 1.0));
  EXPECT_EQ(range("i8"), std::pair(-8.0, 7.0));
  EXPECT_EQ(range("u8"), std::pair(0.0, 15.0));
  EXPECT_EQ(range("i16"), std::pair(-32.0, 31.0));
  EXPECT_EQ(range("i32"), std::pair(0.0, 7.0));
  EXPECT_EQ(range("index"), std::pair(0.0, 7.0));
  for (const std::string dtype : {"f64", "f32", "f16", "bf16"}) {
    const auto [low, high] = range(dtype);
    EXPECT_GE(low, -1) << dtype;
    EXPECT_LT(high, 1) << dtype;
    EXPECT_LT(low, -0.98) << dtype;
    EXPECT_GT(high, 0.98) << dtype;
  }
}

TEST(InputData, DependsOnSeedAndParameter) {
  EXPECT_NE(InputValue(1, 0, "f64", 5), InputValue(2, 0, "f64", 5));
  EXPECT_NE(InputValue(1, 0, "f64", 5), InputValue(1, 1, "f64", 5));
}

TEST(InputData, DoesNotChangeFromVersionToVersion) {
  EXPECT_EQ(InputValue(42, 1, "f32", 0), 0x1.7865f00000000p-3);
  EXPECT_EQ(InputValue(42, 1, "i8", 9), -4);
}

TEST(InputData, KnowsWhatIsNoDType) {
  EXPECT_EQ(DTypeBytes("f31"), 0);
  EXPECT_FALSE(IsFloatDType("i32"));
  EXPECT_TRUE(IsFloatDType("bf16"));
}

TEST(StressData, HasALargestNumberThatIsFarFromTheSecond) {
  for (const auto& [dtype, far] :
       std::map<std::string, double>{{"f64", 710}, {"f32", 90}, {"f16", 90}, {"bf16", 90}}) {
    const int64_t size = DTypeBytes(dtype);
    for (const int64_t n : {8, 256, 4096}) {
      std::vector<char> bytes(static_cast<size_t>(n * size));
      int apart = 0;
      for (uint64_t seed = 0; seed < 100; ++seed) {
        FillStress(seed, 0, dtype, 1.25, n, bytes.data());
        std::vector<double> values;
        for (int64_t i = 0; i < n; ++i) values.push_back(LoadElement(dtype, bytes.data(), i));
        std::partial_sort(values.begin(), values.begin() + 2, values.end(), std::greater());
        EXPECT_TRUE(std::isfinite(values[0])) << dtype;
        apart += values[0] - values[1] > far;
      }
      EXPECT_GT(apart, 80) << dtype << " " << n;
    }
  }
}

TEST(StressData, IsScaled) {
  double once[10], twice[10];
  FillStress(3, 1, "f64", 1, 10, once);
  FillStress(3, 1, "f64", 2, 10, twice);
  for (int i = 0; i < 10; ++i) EXPECT_EQ(2 * once[i], twice[i]);
}

TEST(Poison, HasBothSignsInEveryFloatType) {
  for (const std::string dtype : {"f64", "f32", "f16", "bf16"}) {
    std::vector<char> bytes(64);
    FillPoison(bytes.data(), 64);
    EXPECT_GT(LoadElement(dtype, bytes.data(), 0), 1000) << dtype;
    EXPECT_LT(LoadElement(dtype, bytes.data(), 8 / DTypeBytes(dtype)), -1000) << dtype;
  }
}

}  // namespace
}  // namespace kiln
