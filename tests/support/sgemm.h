// Compiles shared libraries with the function cblas_sgemm, which tests use in place of a vendor's library such as MKL.
#pragma once

#include <string>

#include "absl/strings/str_cat.h"
#include "tests/runner/kernels.h"

namespace kiln {

// Returns C source of a naive matrix product and a cblas_sgemm that calls it. This cblas_sgemm does nothing unless the
// order is row-major, alpha is 1 and beta is 0. `factor` multiplies each sum, to inject an error.
inline std::string SgemmSource(const std::string& factor = "1") {
  return absl::StrCat(
      "static void sgemm(int ta, int tb, long m, long n, long k, const float* a, long lda, const float* b,\n"
      "                  long ldb, float* c, long ldc) {\n"
      "  for (long i = 0; i < m; ++i)\n"
      "    for (long j = 0; j < n; ++j) {\n"
      "      float sum = 0;\n"
      "      for (long l = 0; l < k; ++l)\n"
      "        sum += a[ta ? l * lda + i : i * lda + l] * b[tb ? j * ldb + l : l * ldb + j];\n"
      "      c[i * ldc + j] = ",
      factor,
      " * sum;\n    }\n}\n"
      "void cblas_sgemm(int order, int ta, int tb, int m, int n, int k, float alpha, const float* a, int "
      "lda,\n"
      "                 const float* b, int ldb, float beta, float* c, int ldc) {\n"
      "  if (order == 101 && alpha == 1 && beta == 0)\n"
      "    sgemm(ta == 112, tb == 112, m, n, k, a, lda, b, ldb, c, ldc);\n}\n");
}

// Compiles C source to a shared library with this file name in the folder of the test. Returns the path of the library.
inline std::string MakeLibrary(const std::string& name, const std::string& source) {
  const std::string path = TestFolder() / name;
  std::ofstream(path, std::ios::binary) << CompileC(source);
  return path;
}

}  // namespace kiln
