// Tests that a matmul whose sizes no tile divides computes the same results after pad-to-tile and the modules that
// follow it, under random decisions. tests/modules/cases_test.cc compares the sketches themselves with the text in
// cases/tiling.
#include <gtest/gtest.h>

#include "testing/matmul.h"
#include "testing/module_cases.h"

namespace kiln {
namespace {

TEST(PadToTile, TilesWhatItPadded) {
  ExpectSketchesCompute(
      "each-block(pad-to-tile | multi-level-tiling) | random-compute-location | parallelize-vectorize-unroll",
      Matmul(5, 30, 67), Target(), 2);
}

}  // namespace
}  // namespace kiln
