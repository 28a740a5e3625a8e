// Tests that sketches of pad-to-tile, with the modules that follow it, keep the results of a matmul whose sizes no tile
// divides. tests/modules/cases/tiling has its sketches.
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
