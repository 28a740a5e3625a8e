// Tests that vectorize-rows, among the late modules, keeps the results of a softmax whose rows vectors do not divide.
// tests/modules/cases/reductions has its sketches.
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
