// Tests the modules of consumer_module.cc and examples/register_tiles.cc: what the sketches are (cases/), and that they
// compute the same.
#include <gtest/gtest.h>

#include "testing/case_files.h"
#include "testing/matmul.h"

namespace {

const bool kRegistered = kiln::RegisterModuleCases(CASES);

TEST(SplitFirstLoop, KeepsWhatAMatmulComputes) {
  kiln::ExpectSketchesCompute("each-block(split-first-loop)", kiln::Matmul(8, 4, 6));
}

TEST(RegisterTiles, KeepsWhatAProgramComputes) {
  kiln::ExpectSketchesCompute("each-block(register-tiles)", kiln::Matmul(8, 32, 6));
}

TEST(RegisterTiles, SumsInRegisters) {
  const std::string sketches = kiln::SketchesText("each-block(register-tiles)", kiln::Matmul(8, 32, 6));
  EXPECT_NE(sketches.find("accumulate-at"), std::string::npos) << sketches;
}

}  // namespace
