// Tests that a softmax of 6 rows of 37 elements computes the same results after row-blocking and the modules that
// follow it, under random decisions. tests/modules/cases_test.cc compares the sketches themselves with the text in
// cases/reductions.
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
