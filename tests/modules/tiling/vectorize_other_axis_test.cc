// Tests that the space of CPUs has no choice of another dimension to vectorize (vector-axis) where the last dimension
// of the result fills vectors. tests/modules/cases/tiling/vector_axis.txt has a sketch with this choice.
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
