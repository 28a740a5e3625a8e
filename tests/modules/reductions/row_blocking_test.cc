// Tests that row-blocking, with the modules that follow it, keeps the results of a softmax of 6 rows of 37 elements.
// tests/modules/cases/reductions has its sketches.
#include <gtest/gtest.h>

#include "testing/module_cases.h"
#include "testing/softmax.h"

namespace kiln {
namespace {

TEST(RowBlocking, ComputesRowsThatNothingDivides) {
  ExpectSketchesCompute(
      "each-block(row-blocking) | random-compute-location | vectorize-rows lanes=16 | "
      "parallelize-vectorize-unroll",
      Softmax(6, 37));
}

}  // namespace
}  // namespace kiln
