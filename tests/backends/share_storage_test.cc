// Tests that lowering lets temporaries share memory if they are live at different times, and only then, and that
// results do not change.
#include "backends/lower/passes/share_storage.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "tests/backends/computes_the_same.h"
#include "tests/backends/with_loops.h"

namespace kiln {
namespace {

using testing::HasSubstr;
using testing::Not;

std::string Planned(const Program& p) {
  std::ostringstream passes;
  LowerOptions options;
  options.print_after_all = &passes;
  EXPECT_TRUE(Lower(p, Context(), options).ok());
  const std::string text = passes.str();
  const size_t plan = text.find("----- share-storage -----");
  return text.substr(plan, text.find("----- build -----") - plan);
}

// Returns the text of a loop with one block, dest[i] = value for i < rows, as a part of a program.
std::string Step(const std::string& dest, const std::string& value, int rows = 10000) {
  return absl::StrReplaceAll(
      " for i < <rows> { block make<dest> { spatial i < <rows> = i  <dest>[i] = <value> } }\n",
      {{"<rows>", absl::StrCat(rows)}, {"<dest>", dest}, {"<value>", value}});
}

std::string Buffers(const std::string& temporaries, int rows = 10000) {
  return absl::StrReplaceAll(
      "program chain parameters X, Y buffer X: f32[<rows>] input buffer Y: f32[<rows>] output " + temporaries,
      {{"<rows>", absl::StrCat(rows)}});
}

constexpr char kThree[] =
    "buffer T1: f32[<rows>] temporary buffer T2: f32[<rows>] temporary buffer T3: f32[<rows>] temporary\n";

// Returns a program of four loops that compute T1 from X, T2 from T1, T3 from T2 and Y from T3. Each reads its input
// backwards, so that its result cannot take the place of the input.
Program Chain(int rows) {
  const std::string back = absl::StrCat("[", rows - 1, " - i]");
  return Parsed(Buffers(kThree, rows) + Step("T1", "X" + back + " + f32(1)", rows) +
                Step("T2", "T1" + back + "*f32(2)", rows) + Step("T3", "T2" + back + " + f32(3)", rows) +
                Step("Y", "T3" + back + "*f32(5)", rows));
}

TEST(ShareStorage, TheThirdOfAChainLiesWhereTheFirstLay) {
  for (const int rows : {100, 10000}) {
    const std::string place = rows == 100 ? "alloca" : "heap", plan = Planned(Chain(rows));
    const auto line = [&](const char* name) {
      return absl::StrCat("buffer ", name, ": ", rows, " elements, ");
    };
    EXPECT_THAT(plan, HasSubstr(line("T1") + place + "\n"));
    EXPECT_THAT(plan, HasSubstr(line("T2") + place + "\n"));
    EXPECT_THAT(plan, HasSubstr(line("T3") + place + ", in the memory of T1\n"));
    ComputesTheSame(Chain(rows));
  }
}

TEST(ShareStorage, HeapMemoryIsAllocatedAndFreedOnce) {
  const std::string text = ModuleText(Chain(10000));
  EXPECT_EQ(Count(text, "memref.alloc("), 2) << text;
  EXPECT_EQ(Count(text, "memref.dealloc "), 2) << text;
}

TEST(ShareStorage, WhatIsStillReadKeepsItsMemory) {
  const Program p = Parsed(Buffers(kThree) + Step("T1", "X[i] + f32(1)") + Step("T2", "T1[9999 - i]*f32(2)") +
                           Step("T3", "T2[9999 - i] + f32(3)") + Step("Y", "T3[9999 - i] + T1[i]"));
  EXPECT_THAT(Planned(p), Not(HasSubstr("in the memory of")));
  ComputesTheSame(p);
}

TEST(ShareStorage, WhatIsReadWhileTheNextIsWrittenKeepsItsMemory) {
  const Program p =
      Parsed(Buffers("buffer T1: f32[<rows>] temporary buffer T2: f32[<rows>] temporary\n") +
             Step("T1", "X[i] + f32(1)") + Step("T2", "T1[9999 - i]*f32(2)") + Step("Y", "T2[9999 - i]"));
  EXPECT_THAT(Planned(p), Not(HasSubstr("in the memory of")));
  ComputesTheSame(p);
}

TEST(ShareStorage, OtherTypesAndPlacesHaveMemoryOfTheirOwn) {
  const Program types = Parsed(Buffers("buffer T1: i32[<rows>] temporary buffer T2: f32[<rows>] temporary "
                                       "buffer T3: f32[<rows>] temporary\n") +
                               Step("T1", "i32(X[i])") + Step("T2", "f32(T1[9999 - i])") +
                               Step("T3", "T2[9999 - i]") + Step("Y", "T3[i]"));
  EXPECT_THAT(Planned(types), Not(HasSubstr("in the memory of")));
  const Program places =
      Parsed(Buffers("buffer T1: f32[50] temporary buffer T2: f32[<rows>] temporary buffer T3: f32[<rows>] "
                     "temporary\n") +
             Step("T1", "X[i] + f32(1)", 50) + Step("T2", "T1[i%50]*f32(2)") + Step("T3", "T2[9999 - i]") +
             Step("Y", "T3[i]"));
  EXPECT_THAT(Planned(places), Not(HasSubstr("in the memory of")));
}

TEST(ShareStorage, MemoryIsAsLargeAsTheLargest) {
  const Program p =
      Parsed(Buffers("buffer T1: f32[9000] temporary buffer T2: f32[<rows>] temporary buffer T3: f32[<rows>] "
                     "temporary\n") +
             Step("T1", "X[i] + f32(1)", 9000) + Step("T2", "T1[i%9000]*f32(2)") +
             Step("T3", "T2[9999 - i] + f32(3)") + Step("Y", "T3[9999 - i]"));
  EXPECT_THAT(Planned(p), HasSubstr("buffer T3: 10000 elements, heap, in the memory of T1\n"));
  const std::string text = ModuleText(p);
  EXPECT_EQ(Count(text, "memref.alloc() {alignment = 64 : i64} : memref<10000xf32>"), 2) << text;
  ComputesTheSame(p);
}

// Tests that temporaries of blocks inside one loop do not share memory: lifetimes are only compared among the outermost
// loops of a program.
TEST(ShareStorage, TemporariesOfOneLoopKeepTheirMemory) {
  const std::string rows = R"(program rows parameters X, Y
    buffer X: f32[24, 500] input  buffer Y: f32[24, 500] output
    buffer T1: f32[24, 500] temporary  buffer T2: f32[24, 500] temporary  buffer T3: f32[24, 500] temporary
    for r < 24 <kind> {
      for j < 500 { block a { spatial y < 24 = r  spatial x < 500 = j  T1[y, x] = X[y, x] + f32(1) } }
      for j < 500 { block b { spatial y < 24 = r  spatial x < 500 = j  T2[y, x] = T1[y, 499 - x] } }
      for j < 500 { block c { spatial y < 24 = r  spatial x < 500 = j  T3[y, x] = T2[y, 499 - x]*f32(2) } }
      for j < 500 { block d { spatial y < 24 = r  spatial x < 500 = j  Y[y, x] = T3[y, 499 - x] } } })";
  for (const char* kind : {"", "parallel"}) {
    const Program p = Parsed(absl::StrReplaceAll(rows, {{"<kind>", kind}}));
    EXPECT_THAT(Planned(p), Not(HasSubstr("in the memory of"))) << kind;
    ComputesTheSame(p);
  }
}

TEST(ShareStorage, ParallelLoopsOneAfterTheOtherShare) {
  const Program p = Parsed(absl::StrReplaceAll(ToString(Chain(10000)),
                                               {{"kiln.program v1", ""}, {"10000 {", "10000 parallel {"}}));
  EXPECT_THAT(Planned(p), HasSubstr("in the memory of T1\n"));
  EXPECT_EQ(Count(ModuleText(p), "kiln.parallel"), 4);
  ComputesTheSame(p);
}

TEST(ShareStorage, ThePhasesShareNothing) {
  const Program p = Parsed(R"(program phases parameters X, W, Y
    buffer X: f32[100] input  buffer W: f32[100] constant  buffer Y: f32[100] output
    buffer T1: f32[100] temporary  buffer P: f32[100] temporary  buffer T2: f32[100] temporary
    prepare for i < 100 { block a { spatial x < 100 = i  T1[x] = W[99 - x] + f32(1) } }
    prepare for i < 100 { block b { spatial x < 100 = i  P[x] = T1[99 - x] } }
    for i < 100 { block c { spatial x < 100 = i  T2[x] = P[99 - x]*X[x] } }
    for i < 100 { block d { spatial x < 100 = i  Y[x] = T2[99 - x] } })");
  EXPECT_THAT(Planned(p), Not(HasSubstr("in the memory of")));
  ComputesTheSame(p);
}

TEST(ShareStorage, RegistersStayRegisters) {
  EXPECT_THAT(Planned(WithLoops(Chain(8), LoopKind::kVectorized)), Not(HasSubstr("in the memory of")));
}

// Lowering delays stores to columns of T1, to transpose them in registers. T3 shares the memory of T1. Tests that the
// delayed stores are emitted before T3 is written.
TEST(ShareStorage, WhatWaitsIsStoredBeforeTheNextOwnerStores) {
  const Program p = Parsed(R"(program waits parameters X, Y
    buffer X: f32[4, 8] input  buffer Y: f32[16, 1000] output
    buffer T1: f32[16, 1000] temporary  buffer T2: f32[8] temporary  buffer T3: f32[16, 1000] temporary
    for i < 4 unrolled { for j < 8 vectorized {
      block columns { spatial y < 4 = i  spatial x < 8 = j  T1[x, y] = X[y, x] } } }
    for j < 8 vectorized { block row { spatial x < 8 = j  T1[12, x] = X[1, x] } }
    for j < 8 vectorized { block two { spatial x < 8 = j  T2[x] = T1[12, x] + f32(1) } }
    for i < 16 { for j < 1000 {
      block three { spatial y < 16 = i  spatial x < 1000 = j  T3[y, x] = T2[x%8]*f32(2) } } }
    for i < 16 { for j < 1000 { block y { spatial y < 16 = i  spatial x < 1000 = j  Y[y, x] = T3[y, x] } } })");
  EXPECT_THAT(Planned(p), HasSubstr("buffer T3: 16000 elements, heap, in the memory of T1\n"));
  const std::string text = ModuleText(p);
  EXPECT_LT(text.rfind("vector.shuffle"), text.find("arith.mulf")) << text;
  ComputesTheSame(p);
}

}  // namespace
}  // namespace kiln
