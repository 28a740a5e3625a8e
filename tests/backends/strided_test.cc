// Tests vector loads of elements with a stride: they load whole registers and shuffle, and never read outside of the
// buffer. Also tests vector stores to layouts, and non-temporal stores.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/mman.h>

#include <sstream>

#include "lang/analysis/annotations.h"
#include "lang/program/builder.h"
#include "lang/schedule/schedule.h"
#include "testing/compiled/run_program.h"
#include "testing/scheduled.h"
#include "tests/backends/with_loops.h"

namespace kiln {
namespace {

// Returns the program y[i] = x[stride * i + offset], where i is vectorized with `lanes` lanes, and x has `size`
// elements.
Program Strided(DType type, int64_t lanes, int64_t stride, int64_t offset, int64_t size) {
  Builder b("strided");
  const Id x = b.Input("x", type, {size}), y = b.Output("y", type, {lanes});
  const IndexSum i = b.Iter(0);
  b.Compute("y", {{"i", lanes}}, {y, {i}}, b.Load(x, {i * stride + IndexSum::Constant(offset)}));
  return WithLoops(b.Finish(), LoopKind::kVectorized);
}

// An array of one page of memory between two pages that fault.
template <typename T>
struct Pages {
  static constexpr size_t kPage = 4096;
  Pages() {
    void* all = mmap(nullptr, 3 * kPage, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    data = reinterpret_cast<T*>(static_cast<char*>(all) + kPage);
    mprotect(data, kPage, PROT_READ | PROT_WRITE);
  }
  ~Pages() { munmap(reinterpret_cast<char*>(data) - kPage, 3 * kPage); }
  T* data;
  const int64_t size = kPage / sizeof(T);
};

template <typename T>
void Check(DType type) {
  Pages<T> x;
  for (int64_t i = 0; i < x.size; ++i) x.data[i] = static_cast<T>(i % 120);
  for (const int64_t lanes : {3, 8, 14, 28, 64}) {
    for (const int64_t stride : {2, 3, 4, 5}) {
      const int64_t last = x.size - 1 - stride * (lanes - 1);
      for (const int64_t offset : {int64_t{0}, int64_t{1}, last - 1, last}) {
        auto loaded = BuildProgram(Strided(type, lanes, stride, offset, x.size));
        ASSERT_TRUE(loaded.ok()) << loaded.status();
        Array<T> y(lanes);
        CallKernel(*loaded, "strided", {x.data, y.data()});
        for (int64_t i = 0; i < lanes; ++i)
          ASSERT_EQ(y[i], x.data[stride * i + offset]) << lanes << " " << stride << " " << offset << " " << i;
      }
    }
  }
}

TEST(LoadStrided, StaysInsideOfTheBufferAndFindsEveryLane) {
  Check<float>(DType::kF32);
  Check<double>(DType::kF64);
  Check<int8_t>(DType::kI8);
}

// Copies rows of 16 i8 in vectors to a buffer whose layout keeps only four elements of a row together. Tests that each
// vector is stored in four vector stores, not element by element.
TEST(Store, RunsOfLanesAreStoredTogether) {
  const std::string text = ModuleText(Parsed(R"(
program runs
parameters x, y
buffer x: i8[4, 16] input
buffer y: i8[4, 16] output layout (d1/4 < 4, d0 < 4, d1%4 < 4)
for i < 4 {
  for j < 16 vectorized {
    block y {
      spatial i < 4 = i
      spatial j < 16 = j
      y[i, j] = x[i, j]
    }
  }
}
)"));
  EXPECT_EQ(Count(text, "vector.store"), 4) << text;
  EXPECT_EQ(Count(text, "memref.store"), 0) << text;
}

// Compiles y[i, j + offset] = x[i, j] in vectors of eight with non-temporal stores requested. Tests that these are used
// with offset 0, but not with offset 1, where stores are not aligned. Results must be right for arrays at any address.
TEST(Store, PastTheCachesIsForWholeAlignedVectors) {
  for (const int64_t offset : {0, 1}) {
    Builder b("copy");
    const Id x = b.Input("x", DType::kF32, {16, 64}), y = b.Output("y", DType::kF32, {16, 72});
    const IndexSum i = b.Iter(0), j = b.Iter(1);
    b.Compute("shift", {{"i", 16}, {"j", 64}}, {y, {i, j + IndexSum::Constant(offset)}}, b.Load(x, {i, j}));
    Schedule s = Scheduled(b.Finish());
    const Block block = s.GetBlock("shift");
    s.Vectorize(s.Split(s.GetLoops(block)[1], {kAuto, 8})[1]);
    s.Annotate(block, kNonTemporal, 1);
    ASSERT_TRUE(s.ok()) << s.status();
    const std::string text = ModuleText(s.program());
    EXPECT_EQ(Count(text, "nontemporal = true"), offset == 0 ? 1 : 0) << text;
    EXPECT_EQ(Count(text, "llvm.fence seq_cst"), offset == 0 ? 1 : 0) << text;
    for (const int moved : {0, 1}) {  // moves the output by elements, since no alignment is promised
      const auto loaded = BuildProgram(s.program(), {.alignment = 4});
      ASSERT_TRUE(loaded.ok()) << loaded.status();
      auto in = Random<float>(16 * 64, 1);
      Array<float> out(16 * 72 + 1, -9.f);
      ASSERT_EQ(CallKernel(*loaded, "copy", {in.data(), out.data() + moved}), 0);
      for (int e = 0; e < 16 * 64; ++e) ASSERT_EQ(out[e / 64 * 72 + e % 64 + offset + moved], in[e]) << e;
    }
  }
}

TEST(LoadStrided, LoadsEachRegisterOnce) {
  auto module = Lower(Strided(DType::kF32, 16, 2, 0, 64), Context(), {.vector_bytes = 32});
  ASSERT_TRUE(module.ok()) << module.status();
  std::string text;
  llvm::raw_string_ostream out(text);
  (*module)->print(out);
  size_t loads = 0, shuffles = 0;
  for (size_t at = 0; (at = text.find("vector.load", at)) != std::string::npos; ++at) ++loads;
  for (size_t at = 0; (at = text.find("vector.shuffle", at)) != std::string::npos; ++at) ++shuffles;
  EXPECT_EQ(loads, 4) << text;
  EXPECT_EQ(shuffles, 2) << text;
  EXPECT_THAT(text, testing::Not(testing::HasSubstr("memref.load")));
}

}  // namespace
}  // namespace kiln
