// Tests that the runner times and checks matrix products by libraries, called as cblas_sgemm or dnnl_sgemm, like
// kernels.
#include "backends/runner/library_product.h"

#include <gmock/gmock.h>

#include "tests/support/sgemm.h"

namespace kiln {
namespace {

using testing::HasSubstr;

constexpr int64_t kM = 3, kN = 5, kK = 7;

KernelObject Product(const std::vector<std::string>& libraries) {
  return {.params = {{.dtype = "f32", .elements = kM * kK},
                     {.dtype = "f32", .elements = kK * kN},
                     {.dtype = "f32",
                      .elements = kM * kN,
                      .role = KernelParam::kOutput,
                      .tolerance = {.relative = 1e-6, .absolute = 1e-5}}},
          .product = LibraryProduct{.libraries = libraries, .m = kM, .n = kN, .k = kK}};
}

// Computes a product of 3x7 by 7x5 matrices with a plain C loop, where `a` and `b` are C expressions for the indices of
// A and B in i, j and l. Writes the result to a file to compare with, and returns its path.
std::string ReferenceOf(KernelObject kernel, const std::string& a, const std::string& b) {
  kernel.product = {};
  kernel.symbol = "f";
  kernel.shared_object =
      CompileC(absl::StrCat("int f(float* a, float* b, float* c) {\n  for (int i = 0; i < 3; ++i)\n"
                            "    for (int j = 0; j < 5; ++j) {\n      c[i * 5 + j] = 0;\n"
                            "      for (int l = 0; l < 7; ++l) c[i * 5 + j] += a[",
                            a, "] * b[", b, "];\n    }\n  return 0;\n}\n"));
  const std::string path = TestFolder() / "product";
  const RunResult ran = RunOne({.kernel = kernel, .write_reference_to = path});
  EXPECT_EQ(Name(ran), "ok") << ran.detail;
  return path;
}

TEST(LibraryProduct, IsTimedAndComparedAsAKernelIs) {
  const std::string library = MakeLibrary("libplain.so", SgemmSource());
  const std::string wrong = MakeLibrary("libwrong.so", SgemmSource("1.01f"));
  const std::string reference = ReferenceOf(Product({}), "i * 7 + l", "l * 5 + j");
  const RunResult ran = RunOne({.kernel = Product({library}), .reference = reference});
  EXPECT_EQ(Name(ran), "ok") << ran.detail;
  EXPECT_EQ(ran.seconds.size(), 3);
  EXPECT_EQ(Name(RunOne({.kernel = Product({wrong}), .reference = reference})), "wrong_result");
}

TEST(LibraryProduct, MayHaveTransposedFactors) {
  KernelObject kernel = Product({MakeLibrary("libtransposed.so", SgemmSource())});
  kernel.product->a_transposed = kernel.product->b_transposed = true;
  const std::string reference = ReferenceOf(kernel, "l * 3 + i", "j * 7 + l");
  const RunResult ran = RunOne({.kernel = kernel, .reference = reference});
  EXPECT_EQ(Name(ran), "ok") << ran.detail;
}

TEST(LibraryProduct, MayBeCalledAsOneDnnIs) {
  KernelObject kernel = Product({MakeLibrary(
      "libdnnl.so",
      SgemmSource() +
          "int dnnl_sgemm(char ta, char tb, long m, long n, long k, float alpha, const float* a, long lda,\n"
          "               const float* b, long ldb, float beta, float* c, long ldc) {\n"
          "  sgemm(ta == 'T', tb == 'T', m, n, k, a, lda, b, ldb, c, ldc);\n  return 0;\n}\n")});
  kernel.product->symbol = "dnnl_sgemm";
  kernel.product->b_transposed = true;
  const std::string reference = ReferenceOf(kernel, "i * 7 + l", "j * 7 + l");
  const RunResult ran = RunOne({.kernel = kernel, .reference = reference});
  EXPECT_EQ(Name(ran), "ok") << ran.detail;
}

TEST(LibraryProduct, IsOfTheFirstLibraryThatHasIt) {
  const std::string empty = MakeLibrary("libempty.so", "int nothing;");
  const std::string library = MakeLibrary("libfirst.so", SgemmSource());
  EXPECT_EQ(Name(RunOne({.kernel = Product({"libnosuch.so", empty, library})})), "ok");
  const RunResult none = RunOne({.kernel = Product({"libnosuch.so", empty})});
  EXPECT_EQ(Name(none), "load_failed");
  EXPECT_THAT(none.detail, HasSubstr("libnosuch.so: cannot open"));
  EXPECT_THAT(none.detail, HasSubstr("libempty.so has no symbol 'cblas_sgemm'"));
}

TEST(LibraryProduct, ThatMakesNoSenseIsNotRun) {
  const std::string library = MakeLibrary("libsense.so", SgemmSource());
  KernelObject kernel = Product({library});
  kernel.product->c = 3;
  EXPECT_EQ(RunOne({.kernel = kernel}).detail, "not loadable: there is no parameter 3");
  kernel = Product({library});
  kernel.product->k = int64_t{1} << 31;
  EXPECT_EQ(RunOne({.kernel = kernel}).detail, "not loadable: a matrix of 2147483648");
}

// Runs a library whose dnnl_sgemm returns 10 * threads + cores, on two threads and two cores. Expects 22, so that the
// library was told its number of threads and was loaded on both cores.
TEST(LibraryProduct, IsToldHowManyThreadsItHasAndOnWhichCores) {
  if (sysconf(_SC_NPROCESSORS_ONLN) < 2) GTEST_SKIP() << "one core";
  KernelObject kernel = Product({MakeLibrary(
      "libthreads.so",
      "#define _GNU_SOURCE\n#include <sched.h>\nstatic int threads, cores;\n"
      "void openblas_set_num_threads(int count) { threads = count; }\n"
      "__attribute__((constructor)) static void load(void) {\n"
      "  cpu_set_t s; sched_getaffinity(0, sizeof s, &s); cores = CPU_COUNT(&s); }\n"
      "int dnnl_sgemm(char a, char b, long c, long d, long e, float f) { return 10 * threads + cores; }\n")});
  kernel.product->symbol = "dnnl_sgemm";
  const auto pool = StartPool({.cores = {{0, 1}}});
  EXPECT_EQ(pool->RunAll({{.kernel = kernel, .threads = 2}}).front().detail, "the kernel returned 22");
}

}  // namespace
}  // namespace kiln
