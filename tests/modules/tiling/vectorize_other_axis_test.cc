// Tests when tiles may be vectorized along another dimension than the last one of the result;
// tests/modules/cases/tiling/lanes_across.txt has such a sketch.
#include <gtest/gtest.h>

#include "testing/matmul.h"
#include "testing/module_cases.h"

namespace kiln {
namespace {

TEST(LanesAcross, AreNoChoiceWhereTheLastDimensionFillsVectors) {
  for (const Program& program : {Matmul(32, 16, 8), Matmul(7, 9, 8)}) {
    const std::string sketches = SketchesText("cpu", program);
    EXPECT_NE(sketches.find("write-reuse"), std::string::npos);
    EXPECT_EQ(sketches.find("vector-axis"), std::string::npos) << sketches;
  }
}

}  // namespace
}  // namespace kiln
