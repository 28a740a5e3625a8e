// Tests that LLVM keeps the accumulators of a tiled matrix product, which lowering emits as an array on the stack, in
// registers.
#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/strings/str_format.h"
#include "tests/backends/assembly.h"

namespace kiln {
namespace {

// Writes the MLIR text of a kernel that computes C = A * B, as lowering emits it: with a tile of `rows` x `vectors`
// vectors in an alloca, and the loops over the tile unrolled.
class TileWriter {
 public:
  TileWriter(int m, int n, int k, int rows, int vectors, int lanes)
      : m_(m), n_(n), k_(k), rows_(rows), vectors_(vectors), lanes_(lanes) {}

  std::string Write() {
    Loop("%j", n_, vectors_ * lanes_);
    Loop("%i", m_, rows_);
    ForEachVector([&](int r, int v) { Store("%zero", "%T", InTile(r, v), TileType()); });
    Loop("%p", k_, 1);
    Multiply();
    text_ += "  }\n";
    const std::string c0 = Sum(Mul("%i", n_), "%j");
    ForEachVector([&](int r, int v) {
      Store(Load("%T", InTile(r, v), TileType()), "%C", Add(c0, r * n_ + v * lanes_), Floats(m_ * n_));
    });
    return Header() + text_ + "  }\n  }\n  return\n}\n";
  }

 private:
  static std::string Floats(int count) { return absl::StrCat("memref<", count, "xf32>"); }
  std::string Vector() const { return absl::StrCat("vector<", lanes_, "xf32>"); }
  std::string TileType() const { return Floats(rows_ * vectors_ * lanes_); }
  std::string InTile(int row, int vector) { return Constant((row * vectors_ + vector) * lanes_); }

  void ForEachVector(absl::FunctionRef<void(int row, int vector)> body) const {
    for (int r = 0; r < rows_; ++r) {
      for (int v = 0; v < vectors_; ++v) body(r, v);
    }
  }

  void Multiply() {
    const std::string b0 = Sum(Mul("%p", n_), "%j"), a0 = Sum(Mul("%i", k_), "%p");
    ForEachVector([&](int r, int v) {
      const std::string x = Set(absl::StrCat("memref.load %A[", Add(a0, r * k_), "] : ", Floats(m_ * k_)));
      const std::string s = Set(absl::StrCat("vector.broadcast ", x, " : f32 to ", Vector()));
      const std::string y = Load("%B", Add(b0, v * lanes_), Floats(k_ * n_));
      const std::string z = Load("%T", InTile(r, v), TileType());
      Store(Set(absl::StrCat("vector.fma ", s, ", ", y, ", ", z, " : ", Vector())), "%T", InTile(r, v),
            TileType());
    });
  }

  // Appends an MLIR operation to the text. Returns the name of its result, such as %v7.
  std::string Set(const std::string& operation) {
    const std::string value = absl::StrCat("%v", next_++);
    absl::StrAppend(&text_, "  ", value, " = ", operation, "\n");
    return value;
  }
  std::string Constant(int value) {
    constants_.insert(value);
    return absl::StrCat("%k", value);
  }
  std::string Add(const std::string& x, int value) { return Sum(x, Constant(value)); }
  std::string Mul(const std::string& x, int value) {
    return Set(absl::StrCat("arith.muli ", x, ", ", Constant(value), " : index"));
  }
  std::string Sum(const std::string& x, const std::string& y) {
    return Set(absl::StrCat("arith.addi ", x, ", ", y, " : index"));
  }
  std::string Load(const char* buffer, const std::string& at, const std::string& type) {
    return Set(absl::StrCat("vector.load ", buffer, "[", at, "] : ", type, ", ", Vector()));
  }
  void Store(const std::string& value, const char* buffer, const std::string& at, const std::string& type) {
    absl::StrAppend(&text_, "  vector.store ", value, ", ", buffer, "[", at, "] : ", type, ", ", Vector(),
                    "\n");
  }
  void Loop(const char* iv, int upper, int step) {
    absl::StrAppend(&text_, "  scf.for ", iv, " = ", Constant(0), " to ", Constant(upper), " step ",
                    Constant(step), " {\n");
  }

  std::string Header() const {
    std::string header = absl::StrFormat(
        "func.func @matmul(%%A: %s, %%B: %s, %%C: %s) {\n  %%zero = arith.constant dense<0.0> : %s\n"
        "  %%T = memref.alloca() {alignment = 64 : i64} : %s\n",
        Floats(m_ * k_), Floats(k_ * n_), Floats(m_ * n_), Vector(), TileType());
    for (const int value : constants_)
      absl::StrAppend(&header, "  %k", value, " = arith.constant ", value, " : index\n");
    return header;
  }

  const int m_, n_, k_, rows_, vectors_, lanes_;
  std::string text_;
  std::set<int> constants_;
  int next_ = 0;
};

TEST(Codegen, ARegisterTileStaysInRegisters) {
  constexpr int kSize = 256;
  const int lanes = Host().vector_bytes / 4;
  const std::string text = TileWriter(kSize, kSize, kSize, 4, 2, lanes).Write();
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
