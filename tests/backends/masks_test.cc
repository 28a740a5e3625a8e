// Tests code for vectorized loops whose last vector is not full: guards become masked instructions where the machine
// has them, never a branch for each lane, and memory outside of the arrays is not touched.
#include <gtest/gtest.h>
#include <sys/mman.h>

#include "lang/program/builder.h"
#include "testing/matmul.h"
#include "testing/scheduled.h"
#include "tests/backends/assembly.h"

namespace kiln {
namespace {

// Returns the program y[i] = x[stride * i] + x[stride * i], or y[i] = not x[stride * i] for i1, for n elements in
// vectors of `lanes`. The last vector may not be full.
Program Doubled(DType type, int64_t n, int64_t lanes, int64_t stride = 1) {
  Builder b("doubled");
  const Id x = b.Input("x", type, {n * stride}), y = b.Output("y", type, {n});
  const IndexSum i = b.Iter(0);
  const Id load = b.Load(x, {i * stride});
  b.Compute("double", {{"i", n}}, {y, {i}},
            type == DType::kI1 ? b.Make(Op::kNot, type, load) : b.Add(load, load));
  Schedule s = Scheduled(b.Finish());
  const auto tiles = s.Split(s.GetLoops(s.GetBlock("double"))[0], {kAuto, lanes});
  s.Vectorize(tiles[1]);
  EXPECT_TRUE(s.ok()) << s.status();
  return s.program();
}

// Returns the program y[i] = x[i] for n elements, in vectors of 8 of which the last may not be full.
Program Copied(DType type, int64_t n) {
  Builder b("doubled");
  const Id x = b.Input("x", type, {n}), y = b.Output("y", type, {n});
  b.Compute("copy", {{"i", n}}, {y, {b.Iter(0)}}, b.Load(x, {b.Iter(0)}));
  Schedule s = Scheduled(b.Finish());
  s.Vectorize(s.Split(s.GetLoops(s.GetBlock("copy"))[0], {kAuto, 8})[1]);
  EXPECT_TRUE(s.ok()) << s.status();
  return s.program();
}

// Returns the program y[i] = x[i - 1], and y[0] = `fill` as in padding, in vectors of `lanes`.
Program Shifted(int64_t n, int64_t lanes, double fill = 0) {
  Builder b("shifted");
  const Id x = b.Input("x", DType::kF32, {n}), y = b.Output("y", DType::kF32, {n});
  const IndexSum at = b.Iter(0) + IndexSum::Constant(-1);
  b.Compute("shift", {{"i", n}}, {y, {b.Iter(0)}},
            b.Within({{at, n}}, b.Load(x, {at}), b.Float(DType::kF32, fill)));
  Schedule s = Scheduled(b.Finish());
  s.Vectorize(s.Split(s.GetLoops(s.GetBlock("shift"))[0], {kAuto, lanes})[1]);
  EXPECT_TRUE(s.ok()) << s.status();
  return s.program();
}

// Returns the program y[i] = reduction (of this kind) of x[i, k] + 1 over k < n, in vectors of `lanes` of which the
// last may not be full.
Program Combined(Monoid::Kind kind, int64_t n, int64_t lanes) {
  Builder b("combined");
  const Id x = b.Input("x", DType::kF32, {5, n}), y = b.Output("y", DType::kF32, {5});
  const IndexSum i = b.Iter(0), k = b.Iter(1);
  b.Reduce("combine", {{"i", 5}, {"k", n, IterKind::kReduction}}, kind, {y, {i}},
           b.Add(b.Load(x, {i, k}), b.Float(DType::kF32, 1)));
  Schedule s = Scheduled(b.Finish());
  s.Vectorize(s.Split(s.GetLoops(s.GetBlock("combine"))[1], {kAuto, lanes})[1]);
  EXPECT_TRUE(s.ok()) << s.status();
  return s.program();
}

constexpr char kMaskMove[] = "\tv(p?)maskmov", kMasked[] = "\\{%k[0-7]\\}";
// The most branches that the assembly of a program with one vectorized loop may have: those of its loops, and of the
// test that chooses a version for complete vectors.
constexpr int kBranchesOfLoops = 6;

struct Case {
  const char* target;
  DType type;
  int64_t lanes, stride;
  const char* pattern;  // matches the instructions that take a mask
  int least;            // least number of matches
};

TEST(Masks, AreInstructionsWhereTheMachineHasThem) {
  const Case cases[] = {{"x86-64-v3", DType::kF32, 8, 1, kMaskMove, 2},
                        {"x86-64-v3", DType::kF32, 16, 1, kMaskMove, 4},
                        {"x86-64-v3", DType::kF32, 6, 1, kMaskMove, 2},
                        {"x86-64-v3", DType::kF64, 4, 1, kMaskMove, 2},
                        {"x86-64-v3", DType::kI32, 8, 3, kMaskMove, 1},
                        {"x86-64-v4", DType::kF32, 16, 1, kMasked, 2},
                        {"x86-64-v4", DType::kF32, 8, 1, kMasked, 2},
                        {"x86-64-v4", DType::kF64, 8, 1, kMasked, 2},
                        {"x86-64-v4", DType::kF16, 8, 1, kMasked, 2},
                        {"x86-64-v4", DType::kBF16, 16, 1, kMasked, 2},
                        {"x86-64-v4", DType::kI8, 64, 1, kMasked, 2},
                        {"x86-64-v4", DType::kI1, 16, 1, kMasked, 2},
                        {"x86-64-v4", DType::kI32, 8, 3, "\tvpgather.*\\{%k[0-7]\\}", 1}};
  for (const Case& c : cases) {
    const std::string assembly = Assembly(Doubled(c.type, 1000 + c.lanes - 1, c.lanes, c.stride), c.target);
    EXPECT_GE(Matches(assembly, c.pattern), c.least)
        << c.target << " " << ToString(c.type) << " x " << c.lanes << "\n"
        << assembly;
  }
  EXPECT_GE(Matches(Assembly(Shifted(1000, 8), "x86-64-v3"), "\tvmaskmovps\t.*\\(%rdi"), 1);
  EXPECT_GE(Matches(Assembly(Shifted(1000, 16), "x86-64-v4"), "\tvmovups\t.*\\{%k[0-7]\\} \\{z\\}"), 1);
}

TEST(Masks, ChooseBetweenLanesByBlends) {
  const std::string padded = Assembly(Shifted(1000, 8, 1), "x86-64-v3");
  EXPECT_GE(Matches(padded, "\tvblendvps\t"), 1) << padded;
  const std::string most = Assembly(Combined(Monoid::Kind::kMax, 1003, 8), "x86-64-v3");
  EXPECT_GE(Matches(most, "\tvblendvps\t"), 1) << most;
  const std::string sum = Assembly(Combined(Monoid::Kind::kSum, 1003, 8), "x86-64-v3");
  EXPECT_GE(Matches(sum, "\tv(and|andn|blendv)ps\t"), 1) << sum;
}

TEST(Masks, AreNeverABranchForEachLane) {
  for (const char* target : {"x86-64-v2", "x86-64-v3", "x86-64-v4", "aarch64"}) {
    for (const DType type : {DType::kF32, DType::kF64, DType::kF16, DType::kBF16, DType::kI8, DType::kI1}) {
      for (const int64_t stride : {1, 3}) {
        const std::string assembly = Assembly(Doubled(type, 1007, 16, stride), target);
        EXPECT_LE(Matches(assembly, "\n\t(j[a-z]+|b\\.[a-z]+|b|tbn?z|cbn?z)\t"), kBranchesOfLoops)
            << target << " " << ToString(type) << " apart " << stride << "\n"
            << assembly;
      }
    }
  }
}

// Compiles products with 24, 14, 56 and 12 lanes. LLVM would keep sums of so many lanes in memory, so Kiln emits them
// in vectors of the machine's size. Tests that no sum is on the stack, and that results are right.
TEST(Lanes, ThatFillNoPowerOfVectorsAreEmittedByTheVector) {
  for (const int64_t lanes : {24, 14, 56, 12}) {
    const int64_t rows = lanes == 56 ? 1 : 4;
    const Program p =
        TiledMatmul(Matmul(8, 2 * lanes, 32), Target(), {{8 / rows, 1, rows}, {1, 2, lanes}, {2, 16}}, false)
            .program();
    const std::string assembly = Assembly(p, "x86-64-v3");
    EXPECT_EQ(Matches(assembly, "\tv(fmadd|mov)[^\n]*\\(%rsp\\)"), 0) << lanes << "\n" << assembly;
    EXPECT_GE(Matches(assembly, "\tvfmadd[0-9a-z]*ps\t"), rows * ((lanes + 7) / 8)) << lanes;
    std::vector<std::string> inputs, compiled;
    for (const size_t count : {size_t{8} * 32, size_t(32 * 2 * lanes)}) {
      const Array<float> values = Random<float>(count, static_cast<int>(count));
      inputs.emplace_back(reinterpret_cast<const char*>(&values[0]), count * sizeof(float));
    }
    EXPECT_EQ(RunCompiled(p, inputs, &compiled), 0);
    EXPECT_EQ(compiled, kiln::Run(p, inputs).value()) << lanes;
  }
}

// Two accessible pages between pages that fault. An array that ends at End() cannot be read or written beyond its end
// without a fault.
struct Pages {
  static constexpr size_t kPage = 4096;
  Pages() : all(static_cast<char*>(mmap(nullptr, 4 * kPage, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0))) {
    mprotect(all + kPage, 2 * kPage, PROT_READ | PROT_WRITE);
  }
  ~Pages() { munmap(all, 4 * kPage); }
  char* End() const { return all + 3 * kPage; }
  char* all;
};

// Runs code for this machine, and code for x86 without masked instructions, on arrays that end at the end of a page.
// Tests that incomplete vectors neither read nor write outside of their array.
TEST(Masks, KeepWhatIsOutside) {
  const bool x86 = Host().triple.rfind("x86_64", 0) == 0;
  for (const bool plain : {false, true}) {
    const auto codegen =
        Codegen::Create(plain && x86 ? Named(Host().triple, "x86-64-v2").value() : Host()).value();
    for (const DType type : {DType::kI8, DType::kI32, DType::kI64, DType::kBF16}) {
      for (const int64_t n : {1, 7, 13, 21}) {
        const bool copied = type == DType::kBF16;
        auto module = Lower(copied ? Copied(type, n) : Doubled(type, n, 8), Context());
        ASSERT_TRUE(module.ok()) << module.status();
        const EntryPoint entry{.name = "doubled", .noalias = true, .alignment = 1};
        const auto object = codegen->Compile(**module, {.entries = {entry}});
        ASSERT_TRUE(object.ok()) << object.status();
        const auto code = Loaded::FromBytes(LinkShared({object->bytes}, {.exports = {"doubled"}}).value());
        ASSERT_TRUE(code.ok()) << code.status();
        const size_t bytes = n * SizeOf(type);
        const Pages x, y;
        std::fill(x.End() - bytes, x.End(), 3);
        std::fill(y.End() - bytes - 64, y.End(), 99);
        EXPECT_EQ(CallKernel(*code, "doubled", {x.End() - bytes, y.End() - bytes}), 0);
        EXPECT_EQ(std::string(y.End() - bytes - 64, y.End()),
                  std::string(64, 99) + std::string(bytes, copied ? 3 : 6))
            << ToString(type) << " x " << n << (plain ? ", plain" : "");
      }
    }
  }
}

// Runs y[i] = i32(x[i]) for 9 elements of i64 in vectors of four, where y ends at the end of a page. Tests that the
// last vector, with a single lane, stores nothing beyond y.
TEST(Masks, OneLaneOfNarrowedOnesIsStoredAlone) {
  constexpr int64_t kCount = 9;
  Builder b("narrowed");
  const Id x = b.Input("x", DType::kI64, {kCount}), y = b.Output("y", DType::kI32, {kCount});
  b.Compute("narrow", {{"i", kCount}}, {y, {b.Iter(0)}},
            b.Make(Op::kCast, DType::kI32, b.Load(x, {b.Iter(0)})));
  Schedule s = Scheduled(b.Finish());
  const auto tiles = s.Split(s.GetLoops(s.GetBlock("narrow"))[0], {kAuto, 4});
  s.Unroll(tiles[0]);
  s.Vectorize(tiles[1]);
  ASSERT_TRUE(s.ok()) << s.status();
  const auto code = BuildProgram(s.program(), {.alignment = 4});
  ASSERT_TRUE(code.ok()) << code.status();
  auto in = Random<int64_t>(kCount, 1);
  const Pages out;
  char* const begin = out.End() - kCount * sizeof(int32_t);
  EXPECT_EQ(CallKernel(*code, "narrowed", {in.data(), begin}), 0);
  for (int64_t i = 0; i < kCount; ++i) {
    int32_t found;
    std::memcpy(&found, begin + i * sizeof(found), sizeof(found));
    EXPECT_EQ(found, in[i]);
  }
}

}  // namespace
}  // namespace kiln
