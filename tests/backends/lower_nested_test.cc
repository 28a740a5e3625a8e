// Tests compiled code for programs in which blocks contain loops and other blocks: it agrees with the interpreter.
#include <gtest/gtest.h>

#include "absl/strings/str_format.h"
#include "lang/program/layout.h"
#include "lang/reference/interpreter.h"
#include "lang/text/text.h"
#include "testing/compiled/run_program.h"
#include "tests/support/values.h"

namespace kiln {
namespace {

// Expects that compiled code computes exactly what the interpreter computes, on small integers. The program has
// `inputs` inputs, and its last parameter is its only output.
void ExpectAgreement(const Program& p, int inputs) {
  std::vector<std::string> values;
  std::vector<void*> arguments;
  for (int i = 0; i < inputs; ++i) {
    auto x = Random<float>(BytesOf(p, p.parameters[i]) / 4, i + 1);
    values.push_back(BytesOfValues(std::vector<float>(x.data(), x.data() + x.size())));
  }
  const auto wanted = kiln::Run(p, values);
  ASSERT_TRUE(wanted.ok()) << wanted.status();
  std::string out((*wanted)[0].size(), '\xA5');
  for (std::string& bytes : values) arguments.push_back(bytes.data());
  arguments.push_back(out.data());
  auto loaded = BuildProgram(p);
  ASSERT_TRUE(loaded.ok()) << loaded.status();
  EXPECT_EQ(CallKernel(*loaded, p.name, arguments), 0);
  EXPECT_EQ(ValuesOf<float>(out), ValuesOf<float>((*wanted)[0]));
}

constexpr char kBuffers[] = R"(program tiles parameters A, B, C
  buffer A: f32[14, 15] input  buffer B: f32[15, 10] input  buffer C: f32[14, 10] output )";

TEST(LowerNested, ATileInsideABlockOfTilesIsComputedWhole) {
  ExpectAgreement(Parsed(std::string(kBuffers) + R"(
    for io < 4 { for jo < 2 { block tile {
      spatial to < 4 = io  spatial so < 2 = jo
      for i < 4 { for j < 5 { for k < 15 { block inner {
        spatial y < 14 = to*4 + i  spatial x < 10 = so*5 + j  reduction z < 15 = k
        C[y, x] sum= A[y, z]*B[z, x] } } } } } } })"),
                  2);
}

constexpr char kReducingTiles[] = R"(
    for io < 14 { %s for ko < 3 { block tile {
      spatial y0 < 14 = io  reduction k0 < 3 = ko
      for j < 10 { for k < 5 { block inner {
        spatial y < 14 = y0  spatial x < 10 = j  reduction z < 15 = k0*5 + k
        C[y, x] %s = A[y, z]*B[z, x] } } } } } })";

TEST(LowerNested, AReductionGoesOnOverTheReductionItersOfTheBlockAround) {
  const std::string init =
      "for j < 10 { block init { spatial y < 14 = io spatial x < 10 = j C[y, x] = f32(0) } }";
  ExpectAgreement(Parsed(kBuffers + absl::StrFormat(kReducingTiles, init, "accumulate sum")), 2);
  ExpectAgreement(Parsed(kBuffers + absl::StrFormat(kReducingTiles, "", "sum")), 2);
}

TEST(LowerNested, AReductionOverASpatialIterOfTheBlockAroundIsNoProgram) {
  std::string text = kBuffers + absl::StrFormat(kReducingTiles, "", "sum");
  text.replace(text.find("reduction k0"), 9, "spatial");
  const auto parsed = ParseProgram("kiln.program v1 " + text);
  EXPECT_NE(std::string(parsed.status().message())
                .find("reduction iter z uses iter k0 of the block around it, which is spatial"),
            std::string::npos)
      << parsed.status();
}

// Compiles a sum over k0 = at/8 and k1 = at%8, where `at` is a value of the loops io and jo. The guard of the domain
// k0*8 + k1 < 13 depends on both loops by way of `at`. Tests that the sum starts before both loops, so that the result
// agrees with the interpreter.
TEST(LowerNested, ASumOverAPartOfWhatTwoLoopsMakeStartsBeforeThem) {
  ExpectAgreement(Parsed(R"(program sums parameters A, C  buffer A: f32[13] input  buffer C: f32[] output
    for io < 6 { for jo < 5 { block sum {
      let at = io*5 + jo < 16
      reduction k0 < 2 = at/8  reduction k1 < 8 = at%8
      domain (k0*8 + k1 < 13)
      C[] sum= A[k0*8 + k1] } } })"),
                  1);
}

TEST(LowerNested, ExtentsThatAreParametersAreRefusedByName) {
  const Program p = Parsed(R"(program some parameters n, A, Y
    buffer n: i64[] scalar  buffer A: f32[8] input  buffer Y: f32[8] output
    for i < n{1..8/1} { block copy { spatial x < n{1..8/1} = i  Y[x] = A[x] } })");
  EXPECT_EQ(ToString(*ParseProgram(ToString(p))), ToString(p));
  EXPECT_EQ(Lower(p, Context()).status().message(),
            "loop i has an extent that is a parameter; lowering needs constant extents");
}

TEST(LowerNested, LoopsAroundAndInsideMayBeVectorizedUnrolledAndParallel) {
  ExpectAgreement(Parsed(std::string(kBuffers) + R"(
    for io < 4 parallel { for jo < 2 unrolled { block tile {
      spatial to < 4 = io  spatial so < 2 = jo
      for k < 15 { for i < 4 unrolled { for j < 5 vectorized { block inner {
        spatial y < 14 = to*4 + i  spatial x < 10 = so*5 + j  reduction z < 15 = k
        C[y, x] sum= A[y, z]*B[z, x] } } } } } } })"),
                  2);
}

TEST(LowerNested, WhatABlockMakesForThoseInsideItLivesThere) {
  ExpectAgreement(Parsed(R"(program local parameters A, Y
    buffer A: f32[6, 8] input  buffer Y: f32[6, 8] output  buffer T: f32[6, 8] temporary
    for i < 6 { block row { spatial r < 6 = i
      for j < 8 { block twice { spatial y < 6 = r  spatial x < 8 = j  T[y, x] = A[y, x] + A[y, x] } }
      for j < 8 { block back { spatial y < 6 = r  spatial x < 8 = j  Y[y, x] = T[y, 7 - x] } } } })"),
                  1);
}

TEST(LowerNested, ABlockMayStoreAndHoldBlocksThreeDeep) {
  ExpectAgreement(Parsed(R"(program deep parameters A, Y
    buffer A: f32[4, 6, 5] input  buffer Y: f32[4, 6, 5] output  buffer S: f32[4] temporary
    for i < 4 { block outer { spatial o < 4 = i
      S[o] = A[o, 0, 0] + f32(1)
      for j < 3 { block middle { spatial a < 4 = o  spatial b < 3 = j
        for t < 2 { for k < 5 { block inner { spatial y < 4 = a  spatial x < 6 = b*2 + t  spatial z < 5 = k
          Y[y, x, z] = A[y, x, z]*S[y] } } } } } } })"),
                  1);
}

}  // namespace
}  // namespace kiln
