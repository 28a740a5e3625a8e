// A tile of sums in an array of the stack, as lowering emits it, becomes registers.
#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "absl/strings/str_format.h"
#include "tests/backends/assembly.h"

namespace kiln {
namespace {

// C = A * B with a register tile of `rows` x `vectors` in an alloca, fully unrolled, as lowering emits it.
std::string TiledMatmul(int m, int n, int k, int rows, int vectors, int lanes) {
  const std::string vec = absl::StrCat("vector<", lanes, "xf32>");
  const int width = vectors * lanes;
  const std::string a = absl::StrCat("memref<", m * k, "xf32>"), b = absl::StrCat("memref<", k * n, "xf32>"),
                    c = absl::StrCat("memref<", m * n, "xf32>"),
                    t = absl::StrCat("memref<", rows * width, "xf32>");
  std::string text = absl::StrFormat(
      "func.func @matmul(%%A: %s, %%B: %s, %%C: %s) {\n  %%zero = arith.constant dense<0.0> : %s\n"
      "  %%T = memref.alloca() {alignment = 64 : i64} : %s\n",
      a, b, c, vec, t);
  int next = 0;
  const auto fresh = [&] { return absl::StrCat("%v", next++); };
  const auto constant = [&](int value) {
    const std::string name = absl::StrCat("%k", value);
    if (text.find(name + " =") == std::string::npos) {
      text.insert(text.find("  %zero"), absl::StrCat("  ", name, " = arith.constant ", value, " : index\n"));
    }
    return name;
  };
  const auto add = [&](const std::string& x, int value) {
    const std::string y = constant(value), r = fresh();
    absl::StrAppend(&text, "  ", r, " = arith.addi ", x, ", ", y, " : index\n");
    return r;
  };
  const auto mul = [&](const std::string& x, int value) {
    const std::string y = constant(value), r = fresh();
    absl::StrAppend(&text, "  ", r, " = arith.muli ", x, ", ", y, " : index\n");
    return r;
  };
  const auto sum = [&](const std::string& x, const std::string& y) {
    const std::string r = fresh();
    absl::StrAppend(&text, "  ", r, " = arith.addi ", x, ", ", y, " : index\n");
    return r;
  };
  const auto load = [&](const char* buffer, const std::string& at, const std::string& memory) {
    const std::string r = fresh();
    absl::StrAppend(&text, "  ", r, " = vector.load ", buffer, "[", at, "] : ", memory, ", ", vec, "\n");
    return r;
  };
  const auto store = [&](const std::string& v, const char* buffer, const std::string& at,
                         const std::string& memory) {
    absl::StrAppend(&text, "  vector.store ", v, ", ", buffer, "[", at, "] : ", memory, ", ", vec, "\n");
  };
  const auto loop = [&](const char* iv, int upper, int step) {
    const std::string lo = constant(0), hi = constant(upper), by = constant(step);
    absl::StrAppend(&text, "  scf.for ", iv, " = ", lo, " to ", hi, " step ", by, " {\n");
  };
  loop("%j", n, width);
  loop("%i", m, rows);
  for (int r = 0; r < rows; ++r) {
    for (int v = 0; v < vectors; ++v) store("%zero", "%T", constant(r * width + v * lanes), t);
  }
  loop("%p", k, 1);
  const std::string b0 = sum(mul("%p", n), "%j"), a0 = sum(mul("%i", k), "%p");
  for (int r = 0; r < rows; ++r) {
    for (int v = 0; v < vectors; ++v) {
      const std::string x = fresh(), s = fresh(), f = fresh(), at = add(a0, r * k);
      absl::StrAppend(&text, "  ", x, " = memref.load %A[", at, "] : ", a, "\n  ", s, " = vector.broadcast ",
                      x, " : f32 to ", vec, "\n");
      const std::string y = load("%B", add(b0, v * lanes), b),
                        z = load("%T", constant(r * width + v * lanes), t);
      absl::StrAppend(&text, "  ", f, " = vector.fma ", s, ", ", y, ", ", z, " : ", vec, "\n");
      store(f, "%T", constant(r * width + v * lanes), t);
    }
  }
  text += "  }\n";
  const std::string c0 = sum(mul("%i", n), "%j");
  for (int r = 0; r < rows; ++r) {
    for (int v = 0; v < vectors; ++v)
      store(load("%T", constant(r * width + v * lanes), t), "%C", add(c0, r * n + v * lanes), c);
  }
  return text + "  }\n  }\n  return\n}\n";
}

TEST(Codegen, ARegisterTileStaysInRegisters) {
  constexpr int kSize = 256;
  const int lanes = Host().vector_bytes / 4;
  const std::string text = TiledMatmul(kSize, kSize, kSize, 4, 2, lanes);
  const CodegenOptions options{.entries = {{.name = "matmul", .noalias = true}}};
  const auto code = Build(text, options);
  ASSERT_TRUE(code.ok()) << code.status();
  std::vector<float> storage(3 * kSize * kSize + 16);
  float* a = storage.data() + (64 - reinterpret_cast<uintptr_t>(storage.data()) % 64) / 4;
  float *b = a + kSize * kSize, *c = b + kSize * kSize;
  for (int i = 0; i < kSize * kSize; ++i) a[i] = (i * 7 % 11) - 5, b[i] = (i * 5 % 13) - 6;
  ASSERT_EQ(code->Get<int(float*, float*, float*)>("matmul")(a, b, c), 0);
  for (int i = 0; i < kSize; i += 37) {
    for (int j = 0; j < kSize; ++j) {
      float want = 0;
      for (int p = 0; p < kSize; ++p) want += a[i * kSize + p] * b[p * kSize + j];
      ASSERT_EQ(c[i * kSize + j], want);
    }
  }
  if (absl::StartsWith(Host().triple, "x86_64") && Host().fma) {
    const auto module = Parse(text);
    const auto assembly = HostCodegen().Text(*module, options, Stage::kAssembly);
    ASSERT_TRUE(assembly.ok()) << assembly.status();
    const std::vector<std::string> loops = LoopsOfSums(*assembly);
    ASSERT_EQ(loops.size(), 1u) << *assembly;
    ExpectSumsInRegisters(loops[0], 8);
  }
}

}  // namespace
}  // namespace kiln
