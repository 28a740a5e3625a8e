// rows-at-once with the modules that follow it; tests/modules/cases/reductions has its sketches.
#include <gtest/gtest.h>

#include "testing/module_cases.h"
#include "testing/softmax.h"

namespace kiln {
namespace {

TEST(RowsAtOnce, ComputesRowsThatNothingDivides) {
  ExpectSketchesCompute(
      "each-block(rows-at-once) | random-compute-location | vectorize-rows lanes=16 | "
      "parallelize-vectorize-unroll",
      Softmax(6, 37));
}

}  // namespace
}  // namespace kiln
