#include "validator/validate.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "lang/text/text.h"
#include "testing/matmul.h"
#include "testing/scheduled.h"

namespace kiln {
namespace {

using ::testing::HasSubstr;

Target Avx2() {
  Target target;
  target.vector_bytes = 32;
  target.vector_registers = 16;
  return target;
}

const TileFactors kTiles{{2, 2, 4}, {1, 2, 16}, {2, 4}};

Program Tiled(TileFactors tiles = kTiles, bool pack = false) {
  const auto product = [](const auto& factors) {
    int64_t p = 1;
    for (const int64_t f : factors) p *= f;
    return p;
  };
  return TiledMatmul(Matmul(product(tiles.i), product(tiles.j), product(tiles.k)), Avx2(), tiles, pack)
      .program();
}

Id LoopCalled(const Program& p, absl::string_view name) {
  for (Id n = 0; n < static_cast<Id>(p.nodes.size()); ++n) {
    if (p.IsLoop(n) && p.Text(p.loop(n).name) == name) return n;
  }
  ADD_FAILURE() << "no loop is called " << name;
  return kNone;
}

void ExpectRefused(const Program& program, const Target& target, absl::string_view check,
                   const std::string& message) {
  const Verdict verdict = Validate(program, target);
  EXPECT_FALSE(verdict.ok);
  EXPECT_EQ(verdict.check, check);
  EXPECT_THAT(verdict.message, HasSubstr(message));
}

TEST(Validate, AcceptsATiledMatmul) {
  const Verdict verdict = Validate(Tiled(), Avx2());
  EXPECT_TRUE(verdict.ok) << verdict.check << ": " << verdict.message;
  EXPECT_TRUE(verdict.status().ok());
}

TEST(Validate, NamesTheCheckInItsStatus) {
  Target target = Avx2();
  target.max_unrolled = 4;
  EXPECT_EQ(Validate(Tiled(), target).status().message(),
            "check unrolled: loop i_2 writes out 8 instructions or more; 4 are allowed");
}

TEST(Validate, RefusesAParallelReduction) {
  Program p = Matmul(16, 16, 16);
  p.loop(LoopCalled(p, "k")).kind = LoopKind::kParallel;
  ExpectRefused(p, Avx2(), "parallel", "loop k is parallel, but block \"matmul\" reduces over loop k");
}

TEST(Validate, RefusesAParallelLoopThatWritesTheSameElements) {
  Builder b("copies");
  const Id A = b.Input("A", DType::kF32, {8}), B = b.Output("B", DType::kF32, {8});
  const Id block = b.Compute("copy", {{"i", 8}}, {B, {b.Iter(0)}}, b.Load(A, {b.Iter(0)}));
  Program p = b.Finish();
  const Id loop = p.AddLoop("again", 4, LoopKind::kParallel), i = p.nodes[block].parent;
  p.Replace(i, loop);
  p.Append(loop, i);
  ExpectRefused(p, Avx2(), "parallel",
                "block \"copy\" writes the same elements of buffer B in every iteration of loop again");
}

TEST(Validate, RefusesIterationsAtOnceThatRepeatAReduction) {
  constexpr char kRepeated[] = R"(kiln.program v1 program p parameters A, B
    buffer A: f32[2, 3] input  buffer B: f32[2] output
    for a < 4 { for r < 3 { block sum { spatial i < 2 = a%2  reduction r < 3 = r  B[i] sum= A[i, r] } } })";
  Program p = ParseProgram(kRepeated).value();
  p.loop(LoopCalled(p, "a")).kind = LoopKind::kVectorized;
  ExpectRefused(p, Avx2(), "vectorized", "iterations of loop a repeat what others reduce in block \"sum\"");
  p.loop(LoopCalled(p, "a")).kind = LoopKind::kParallel;
  ExpectRefused(p, Avx2(), "parallel", "iterations of loop a repeat what others reduce in block \"sum\"");
}

TEST(Validate, RefusesIterationsAtOnceThatStoreAgainWhatTwoBlocksStore) {
  constexpr char kTwice[] = R"(kiln.program v1 program p parameters A, B
    buffer A: f32[2] input  buffer B: f32[2] output
    for a < 4 { block fill { spatial i < 2 = a%2  B[i] = f32(1) } block copy { spatial i < 2 = a%2  B[i] = A[i] } })";
  Program p = ParseProgram(kTwice).value();
  p.loop(LoopCalled(p, "a")).kind = LoopKind::kParallel;
  ExpectRefused(p, Avx2(), "parallel", "iterations of loop a repeat what others write in block \"fill\"");
}

TEST(Validate, RefusesIterationsAtOnceThatReadWhatOthersWrite) {
  constexpr char kShifted[] = R"(
    buffer A: f32[4] input  buffer B: f32[4] output
    for i < 4 { block make { spatial i < 4 = i  T[i] = A[i] }
                block use { spatial i < 4 = i  B[i] = within((i - 1 < 4), T[i - 1], f32(0)) } })";
  for (const std::string head : {"A, B buffer T: f32[4] temporary", "A, B, T buffer T: f32[4] output"}) {
    Program p = ParseProgram("kiln.program v1 program p parameters " + head + kShifted).value();
    EXPECT_TRUE(Validate(p, Avx2()).ok);
    p.loop(LoopCalled(p, "i")).kind = LoopKind::kParallel;
    ExpectRefused(p, Avx2(), "parallel", "its iterations read of buffer T what others write");
    p.loop(LoopCalled(p, "i")).kind = LoopKind::kVectorized;
    ExpectRefused(p, Avx2(), "vectorized", "its iterations read of buffer T what others write");
  }
}

TEST(Validate, RefusesNestedParallelLoops) {
  Program p = Matmul(16, 16, 16);
  p.loop(LoopCalled(p, "i")).kind = p.loop(LoopCalled(p, "j")).kind = LoopKind::kParallel;
  ExpectRefused(p, Avx2(), "parallel", "loop j is parallel inside of loop i, which is parallel too");
}

TEST(Validate, AllowsAParallelLoopWithinOneOfOneIteration) {
  Program p = Matmul(1, 16, 16);
  for (const char* loop : {"i", "j"}) p.loop(LoopCalled(p, loop)).kind = LoopKind::kParallel;
  EXPECT_TRUE(Validate(p, Avx2()).ok);
}

TEST(Validate, NamesTheOutermostLoopThatIsUnrolled) {
  Program p = Matmul(8, 8, 8);
  for (const char* loop : {"i", "j", "k"}) p.loop(LoopCalled(p, loop)).kind = LoopKind::kUnrolled;
  Target target = Avx2();
  target.max_unrolled = 8;
  ExpectRefused(p, target, "unrolled", "loop i writes out");
}

TEST(Validate, CountsLanesThatAreStoredOneByOne) {
  Program p = ParseProgram(R"(kiln.program v1 program p parameters A, B
    buffer A: f32[64, 16] input  buffer B: f32[64, 16] output
    for i < 64 unrolled { for j < 16 vectorized { block copy {
      spatial i < 64 = i  spatial j < 16 = j  B[i, j] = A[i, j] } } })")
                  .value();
  EXPECT_TRUE(Validate(p, Avx2()).ok);
  std::swap(p.loop(LoopCalled(p, "i")).kind, p.loop(LoopCalled(p, "j")).kind);
  ExpectRefused(p, Avx2(), "unrolled", "loop i writes out 1024 instructions or more; 512 are allowed");
}

TEST(Validate, CountsInstructionsOfFunctions) {
  Builder b("functions");
  const Id A = b.Input("A", DType::kF32, {32, 8}), B = b.Output("B", DType::kF32, {32, 8});
  const IndexSum i = b.Iter(0), j = b.Iter(1);
  b.Compute("map", {{"i", 32}, {"j", 8}}, {B, {i, j}}, b.Make(Op::kErf, DType::kF32, b.Load(A, {i, j})));
  Program p = b.Finish();
  p.loop(LoopCalled(p, "j")).kind = LoopKind::kVectorized;
  EXPECT_TRUE(Validate(p, Avx2()).ok);
  p.loop(LoopCalled(p, "i")).kind = LoopKind::kUnrolled;
  ExpectRefused(p, Avx2(), "unrolled", "loop i writes out 1600 instructions or more; 512 are allowed");
}

// The validator accepts a body of 600 instructions, whose limit is 600, in a serial loop and in a vectorized loop with
// the lanes of one register. It refuses the body if the lanes need two registers, or if the loop is unrolled.
TEST(Validate, AcceptsALongBodyThatNoLoopMultiplies) {
  Builder b("long");
  const Id A = b.Input("A", DType::kF32, {4, 16}), B = b.Output("B", DType::kF32, {4, 16});
  const IndexSum i = b.Iter(0), j = b.Iter(1);
  Id value = b.Load(A, {i, j});
  for (int n = 0; n < 600; ++n) value = b.Make(Op::kNeg, DType::kF32, value);
  b.Compute("map", {{"i", 4}, {"j", 16}}, {B, {i, j}}, value);
  Program p = b.Finish();
  EXPECT_TRUE(Validate(p, Avx2()).ok);
  const auto with = [&](LoopKind kind, int64_t vector_bytes) {
    p.loop(LoopCalled(p, "j")).kind = kind;
    Target target = Avx2();
    target.vector_bytes = vector_bytes;
    return Validate(p, target);
  };
  EXPECT_TRUE(with(LoopKind::kVectorized, 64).ok);
  EXPECT_EQ(with(LoopKind::kVectorized, 32).message,
            "loop j writes out 1200 instructions or more; 600 are allowed");
  EXPECT_EQ(with(LoopKind::kUnrolled, 64).message,
            "loop j writes out 9600 instructions or more; 600 are allowed");
}

TEST(Validate, RefusesNestedVectorizedLoops) {
  Program p = Matmul(16, 16, 16);
  p.loop(LoopCalled(p, "i")).kind = p.loop(LoopCalled(p, "j")).kind = LoopKind::kVectorized;
  ExpectRefused(p, Avx2(), "vectorized", "loop j is vectorized inside of loop i, which is vectorized");
}

TEST(Validate, AllowsReductionsAcrossLanes) {
  Program p = Matmul(16, 16, 16);
  p.loop(LoopCalled(p, "k")).kind = LoopKind::kVectorized;
  EXPECT_TRUE(Validate(p, Avx2()).ok);
}

TEST(Validate, RefusesOneLaneAndMoreThanSixtyFour) {
  for (const int64_t lanes : {2, 64}) {
    Program p = Matmul(16, lanes, 16);
    p.loop(LoopCalled(p, "j")).kind = LoopKind::kVectorized;
    EXPECT_TRUE(Validate(p, Avx2()).ok) << lanes;
  }
  for (const int64_t lanes : {1, 65, 128}) {
    Program p = Matmul(16, lanes, 16);
    p.loop(LoopCalled(p, "j")).kind = LoopKind::kVectorized;
    ExpectRefused(p, Avx2(), "vectorized",
                  absl::StrCat("loop j is vectorized with ", lanes, " lanes; 2 to 64 are allowed"));
  }
}

TEST(Validate, RefusesRegistersIndexedByALoopThatRuns) {
  Program p = Tiled();
  p.loop(LoopCalled(p, "i_2")).kind = LoopKind::kSerial;
  const Verdict verdict = Validate(p, Avx2());
  EXPECT_EQ(verdict.check, "registers");
  EXPECT_THAT(
      verdict.message,
      HasSubstr("indexes buffer C.acc, which is in registers, by loop i_2, which is serial; it must be "
                "unrolled or vectorized"));
}

TEST(Validate, RefusesTilesThatSpill) {
  // A tile of 6 x 16 floats needs 12 of the 16 registers, and 2 + 1 for operands. A tile of 8 x 16 floats needs all 16,
  // and is refused.
  EXPECT_TRUE(Validate(Tiled({{2, 1, 6}, {1, 1, 16}, {2, 4}}), Avx2()).ok);
  ExpectRefused(Tiled({{2, 1, 8}, {1, 1, 16}, {2, 4}}), Avx2(), "register-tile",
                "block \"matmul\" needs 16 registers for what it holds and 3 for its operands; there are 16");
}

TEST(Validate, LoadsTheOperandsOfASingleRowOneByOne) {
  EXPECT_TRUE(Validate(Tiled({{16, 1, 1}, {1, 1, 64}, {2, 4}}), Avx2()).ok);
}

TEST(Validate, AllowsTilesThatFillTheRegisters) {
  Target target = Avx2();
  for (const int registers : {14, 15}) {
    target.vector_registers = registers;
    EXPECT_EQ(Validate(Tiled({{2, 1, 6}, {1, 1, 16}, {2, 4}}), target).ok, registers == 15);
  }
}

TEST(Validate, RefusesMoreStackThanThereIs) {
  Target wide = Avx2();
  EXPECT_TRUE(Validate(Tiled({{2, 1, 4}, {1, 4, 16}, {2, 512}}, true), wide).check != "stack");
  Program p = Tiled({{2, 1, 4}, {1, 4, 16}, {2, 2048}}, true);
  p.loop(LoopCalled(p, "c1")).kind = LoopKind::kSerial;
  ExpectRefused(p, wide, "stack",
                "buffers on the stack and in registers take 524544 bytes; 262144 are allowed");
}

Program Large(int64_t n) {
  Builder b("large");
  const Id A = b.Input("A", DType::kF32, {1}), T = b.Temporary("T", DType::kF32, {n}),
           B = b.Output("B", DType::kF32, {n});
  b.Compute("t", {{"i", n}}, {T, {b.Iter(0)}}, b.Load(A, {IndexSum::Constant(0)}));
  b.Compute("b", {{"i", n}}, {B, {b.Iter(0)}}, b.Load(T, {b.Iter(0)}));
  return b.Finish();
}

TEST(Validate, AllowsAsMuchStackAsThereIs) {
  for (const int64_t floats : {65536, 65537}) {
    Program p = Large(floats);
    for (Buffer& buffer : p.buffers) {
      if (buffer.role == Role::kTemporary) buffer.scope.storage = Storage::kStack;
    }
    EXPECT_EQ(Validate(p, Avx2()).check == "stack", floats == 65537);
  }
}

TEST(Validate, RefusesTemporariesBeyondTheMemory) {
  EXPECT_TRUE(Validate(Large(int64_t{1} << 28), Avx2()).ok);
  ExpectRefused(Large(int64_t{1} << 29), Avx2(), "memory",
                "temporaries take 2147483648 bytes; 1073741824 are allowed");
}

TEST(Validate, CountsWhatEachCoreHasForItself) {
  Builder b("each");
  const int64_t n = int64_t{1} << 27;
  const Id A = b.Input("A", DType::kF32, {1}), T = b.Temporary("T", DType::kF32, {n}),
           B = b.Output("B", DType::kF32, {2, n});
  b.Compute("t", {{"j", n}}, {T, {b.Iter(0)}}, b.Load(A, {IndexSum::Constant(0)}));
  b.Compute("b", {{"i", 2}, {"j", n}}, {B, {b.Iter(0), b.Iter(1)}}, b.Load(T, {b.Iter(1)}));
  Schedule s = Scheduled(b.Finish());
  const Loop i = s.GetLoops(s.GetBlock("b"))[0];
  s.ComputeAt(s.GetBlock("t"), i);
  Target target = Avx2();
  target.cores = 4;
  EXPECT_TRUE(Validate(s.program(), target).ok);
  s.Parallel(i);
  ASSERT_TRUE(s.ok()) << s.status();
  ExpectRefused(s.program(), target, "memory", "temporaries take 2147483648 bytes; 1073741824 are allowed");
  target.cores = 1;
  EXPECT_TRUE(Validate(s.program(), target).ok);
}

Program Deep(int depth) {
  Program p = Matmul(2, 2, 2);
  Id outer = LoopCalled(p, "i");
  for (int d = 3; d < depth; ++d) {
    const Id loop = p.AddLoop("unit", 1);
    p.Replace(outer, loop);
    p.Append(loop, outer);
    outer = loop;
  }
  return p;
}

TEST(Validate, RefusesNestsThatAreTooDeep) {
  EXPECT_TRUE(Validate(Deep(60), Avx2()).ok);
  ExpectRefused(Deep(61), Avx2(), "depth", "block \"matmul\" has 61 loops around it; 60 are allowed");
}

TEST(Validate, RunsVerifyOnProgramsThatNoPrimitiveMade) {
  Program p = Matmul(2, 2, 2);
  p.nodes[kRoot].last = kNone;
  ExpectRefused(p, Avx2(), "verify", "wrong last child");
}

}  // namespace
}  // namespace kiln
