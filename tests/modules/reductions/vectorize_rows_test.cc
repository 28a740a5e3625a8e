// Tests that a softmax whose rows of 37 elements are not divided by vectors of 16 lanes computes the same results after
// vectorize-rows and the other late modules, under random decisions. tests/modules/cases_test.cc compares the sketches
// themselves with the text in cases/reductions.
#include <gtest/gtest.h>

#include "testing/module_cases.h"
#include "testing/softmax.h"

namespace kiln {
namespace {

TEST(VectorizeRows, ComputesRowsThatVectorsDoNotDivide) {
  ExpectSketchesCompute("random-compute-location | vectorize-rows lanes=16 | parallelize-vectorize-unroll",
                        Softmax(3, 37));
}

}  // namespace
}  // namespace kiln
