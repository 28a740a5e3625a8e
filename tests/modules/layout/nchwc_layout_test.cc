// Tests that a padded 1D convolution computes the same results after nchwc-layout and the modules that follow it, under
// random decisions. tests/modules/cases_test.cc compares the sketches themselves with the text in cases/layout.
#include <gtest/gtest.h>

#include "lang/text/text.h"
#include "testing/module_cases.h"

namespace kiln {
namespace {

TEST(NchwcLayout, AreTiled) {
  const auto program = ParseProgram(R"(kiln.program v1
program conv
parameters x, w, y
buffer x: f32[8, 7] input
buffer w: f32[16, 8, 3] input
buffer y: f32[16, 7] output
buffer pad: f32[8, 9] temporary

for c < 8 {
  for h < 9 {
    block pad {
      spatial c < 8 = c
      spatial h < 9 = h
      pad[c, h] = within((h - 1 < 7), x[c, h - 1], f32(0))
    }
  }
}
for o < 16 {
  for h < 7 {
    for c < 8 {
      for k < 3 {
        block conv {
          spatial o < 16 = o
          spatial h < 7 = h
          reduction c < 8 = c
          reduction k < 3 = k
          y[o, h] sum= pad[c, h + k]*w[o, c, k]
        }
      }
    }
  }
}
)");
  ASSERT_TRUE(program.ok()) << program.status();
  ExpectSketchesCompute(
      "each-block(nchwc-layout | multi-level-tiling) | random-compute-location | "
      "parallelize-vectorize-unroll",
      *program);
}

}  // namespace
}  // namespace kiln
