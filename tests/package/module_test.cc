// Tests the module of consumer_module.cc.
#include <gtest/gtest.h>

#include "testing/matmul.h"
#include "testing/module_cases.h"

namespace {

TEST(SplitFirstLoop, KeepsWhatAProgramComputes) {
  kiln::ExpectSketchesCompute("each-block(split-first-loop)", kiln::Matmul(8, 4, 6));
}

}  // namespace
