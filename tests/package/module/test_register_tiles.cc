// Tests the module of examples/register_tiles.cc: what its sketches are (cases/), and that they compute the same.
#include <gtest/gtest.h>

#include "testing/case_files.h"
#include "testing/convolution.h"
#include "testing/matmul.h"

namespace {

const bool kRegistered = kiln::RegisterModuleCases(CASES);

TEST(RegisterTiles, KeepsWhatAProgramComputes) {
  kiln::ExpectSketchesCompute("each-block(register-tiles)", kiln::Matmul(8, 32, 6));
  kiln::ExpectSketchesCompute("each-block(register-tiles)", kiln::Convolution({.size = 4, .stride = 2}));
}

TEST(RegisterTiles, SumsInRegisters) {
  const std::string sketches = kiln::SketchesText("each-block(register-tiles)", kiln::Matmul(8, 32, 6));
  EXPECT_NE(sketches.find("accumulate-at"), std::string::npos) << sketches;
}

}  // namespace
