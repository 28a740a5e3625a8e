// Tests the module of consumer_module.cc: what its sketches are (cases/), and that they compute the same.
#include <gtest/gtest.h>

#include "testing/case_files.h"
#include "testing/matmul.h"

namespace {

const bool kRegistered = kiln::RegisterModuleCases(CASES);

TEST(SplitFirstLoop, KeepsWhatAMatmulComputes) {
  kiln::ExpectSketchesCompute("each-block(split-first-loop)", kiln::Matmul(8, 4, 6));
}

}  // namespace
