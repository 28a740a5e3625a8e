// Export: what a C program gets, and that it needs nothing of Kiln.
#include "backends/export/export.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <set>

#include "absl/strings/match.h"
#include "absl/strings/str_split.h"
#include "tests/backends/run_program.h"
#include "tests/backends/workers.h"

namespace kiln {
namespace {

namespace fs = std::filesystem;

BuilderPool& Builders() {
  static auto* const pool = StartBuilders().release();
  return *pool;
}

std::string FreshFolder() {
  std::string name = testing::TempDir() + "kiln-export-XXXXXX";
  return mkdtemp(name.data());
}

std::string Read(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

struct Output {
  int status = 0;
  std::string text;
};

Output Shell(const std::string& command) {
  Output output;
  FILE* pipe = popen((command + " 2>&1").c_str(), "r");
  char buffer[4096];
  for (size_t n; (n = fread(buffer, 1, sizeof buffer, pipe)) > 0;) output.text.append(buffer, n);
  output.status = WEXITSTATUS(pclose(pipe));
  return output;
}

constexpr char kUseAffine[] =
    "#include \"scale.h\""
    R"(
#include <stdlib.h>
#include <stdio.h>
int main(void) {
  float* memory = malloc(2 * 101 * sizeof(float));
  float *x = memory + 1, *y = memory + 101;  /* aligned to nothing */
  for (int i = 0; i < 99; ++i) x[i] = i, y[i] = -1;
  if (scale(x, y) != 0) return 2;
  for (int i = 0; i < 99; ++i) if (y[i] != 2 * x[i] + 1) return 1;
  puts("right");
  return 0;
}
)";

TEST(Export, ACProgramLinksTheObjectAndTheLibrary) {
  const std::string folder = FreshFolder();
  const auto exported = Export(Affine(99), "scale", folder, Builders(), {.trace = "kiln.trace v1\n"});
  ASSERT_TRUE(exported.ok()) << exported.status();
  std::set<std::string> names;
  for (const std::string& file : exported->files) {
    EXPECT_TRUE(fs::exists(file)) << file;
    names.insert(fs::path(file).filename());
  }
  EXPECT_EQ(names, (std::set<std::string>{"scale.h", "scale.o", "libscale.so", "scale.mlir", "scale.trace"}));
  EXPECT_EQ(Read(folder + "/scale.trace"), "kiln.trace v1\n");
  std::ofstream(folder + "/use.c") << kUseAffine;
  const std::string in = "cd " + folder + " && ";
  const Output object = Shell(in + "cc -std=c99 -Wall -Wextra -Werror use.c scale.o -lm -o use && ./use");
  EXPECT_EQ(object.text, "right\n");
  const Output library = Shell(in + "cc -Wall -Werror use.c -L. -lscale -Wl,-rpath,. -o use2 && ./use2");
  EXPECT_EQ(library.text, "right\n");
  const Output cpp = Shell(in +
                           "printf '#include \"scale.h\"\\nint main() { static float x[99], y[99]; return "
                           "scale(x, y); }' > use.cc && "
                           "c++ -Wall -Werror use.cc scale.o -lm -o use3 && ./use3");
  EXPECT_EQ(cpp.status, 0) << cpp.text;
}

TEST(Export, NeedsNothingButLibcAndLibm) {
  Builder b("soft");
  const Id X = b.Input("X", DType::kF32, {64}), Y = b.Output("Y", DType::kF32, {64});
  b.Compute("tan", {{"i", 64}}, {Y, {b.Iter(0)}}, b.Make(Op::kTan, DType::kF32, b.Load(X, {b.Iter(0)})));
  const std::string folder = FreshFolder();
  ASSERT_TRUE(Export(b.Finish(), "soft", folder, Builders()).ok());
  const Output needed = Shell("readelf -d " + folder + "/libsoft.so | grep NEEDED");
  for (absl::string_view line : absl::StrSplit(needed.text, '\n', absl::SkipEmpty())) {
    EXPECT_TRUE(absl::StrContains(line, "[libc.so.6]") || absl::StrContains(line, "[libm.so.6]")) << line;
  }
  EXPECT_TRUE(absl::StrContains(needed.text, "libm.so.6"));
  const Output undefined = Shell("nm -u " + folder + "/soft.o | awk '{print $2}' | sort -u | tr '\\n' ' '");
  EXPECT_EQ(undefined.text, "tanf ");
  const Output defined = Shell("nm -g --defined-only " + folder + "/soft.o | awk '{print $3}'");
  EXPECT_EQ(defined.text, "soft\n");
}

TEST(Export, TheHeaderSaysWhatToPass) {
  const std::string folder = FreshFolder();
  ASSERT_TRUE(Export(Matmul(4, 6, 5), "mm", folder, Builders()).ok());
  const std::string header = Read(folder + "/mm.h");
  for (const char* part :
       {" *   A  input f32[4, 5]\n", " *   B  input f32[5, 6]\n", " *   C  output f32[4, 6]\n",
        "int mm(const float* A,\n       const float* B,\n       float* C);\n", "extern \"C\" {",
        "#ifndef KILN_MM_H\n#define KILN_MM_H\n", "#include <stdint.h>"}) {
    EXPECT_TRUE(absl::StrContains(header, part)) << part << "in\n" << header;
  }
}

TEST(Export, PrepareIsAFunctionOfItsOwn) {
  const std::string folder = FreshFolder();
  const auto exported = Export(WithPrepare(40), "packed", folder, Builders());
  ASSERT_TRUE(exported.ok()) << exported.status();
  std::ofstream(folder + "/use.c") << "#include \"packed.h\"" << R"(
    int main(void) {
      float x[40], w[40], y[40], p[40];
      for (int i = 0; i < 40; ++i) x[i] = i, w[i] = 3 * i;
      if (packed_prepare(0, w, 0, p) != 0 || packed(x, 0, y, p) != 0) return 2;
      for (int i = 0; i < 40; ++i) if (y[i] != 7 * i) return 1;
      return 0;
    })";
  const Output output = Shell("cd " + folder + " && cc -Wall -Werror use.c packed.o -lm -o use && ./use");
  EXPECT_EQ(output.status, 0) << output.text << Read(folder + "/packed.h");
}

TEST(Export, TheMlirIsTheSameProgram) {
  const std::string folder = FreshFolder();
  Program p = Matmul(8, 16, 8);
  for (Id node = 0; node < static_cast<Id>(p.nodes.size()); ++node) {
    if (p.IsLoop(node) && p.Text(p.loop(node).name) == "i") p.loop(node).kind = LoopKind::kUnrolled;
  }
  ASSERT_TRUE(Export(p, "mm", folder, Builders()).ok());
  const Output parsed =
      Shell("mlir-opt-22 " + folder + "/mm.mlir -o /dev/null || /usr/lib/llvm-22/bin/mlir-opt " + folder +
            "/mm.mlir -o /dev/null");
  EXPECT_EQ(parsed.status, 0) << parsed.text;
  CodegenOptions options;
  options.entries = {{.name = "mm", .noalias = true}};
  const auto loaded = Build(Read(folder + "/mm.mlir"), options);
  ASSERT_TRUE(loaded.ok()) << loaded.status();
  auto a = Random<float>(64, 1), b = Random<float>(128, 2);
  Array<float> c(128, 99.f);
  EXPECT_EQ(Call(*loaded, "mm", {a.data(), b.data(), c.data()}), 0);
  for (int i = 0; i < 8; ++i) {
    for (int j = 0; j < 16; ++j) {
      float sum = 0;
      for (int k = 0; k < 8; ++k) sum += a[i * 8 + k] * b[k * 16 + j];
      EXPECT_EQ(c[i * 16 + j], sum);
    }
  }
}

TEST(Export, NamesAreIdentifiersAndNobodyElses) {
  EXPECT_EQ(SafeName("torch_matmul_1024"), "torch_matmul_1024");
  EXPECT_EQ(SafeName("conv2d.3x3-bias"), "conv2d_3x3_bias");
  EXPECT_EQ(SafeName("3x3"), "kiln_3x3");
  EXPECT_EQ(SafeName(""), "kiln_program");
  EXPECT_EQ(SafeName("main"), "kiln_main");
  EXPECT_EQ(SafeName("class"), "kiln_class");
  EXPECT_EQ(SafeName("exp"), "kiln_exp");
  EXPECT_EQ(SafeName("malloc"), "kiln_malloc");
  EXPECT_EQ(SafeIdentifier("gamma"), "gamma");
}

TEST(Export, MakesFoldersAndReplacesOlderFiles) {
  const std::string folder = FreshFolder() + "/a/b";
  ASSERT_TRUE(Export(Affine(10), "f", folder, Builders()).ok());
  const std::string before = Read(folder + "/f.h");
  ASSERT_TRUE(Export(Affine(20), "f", folder, Builders()).ok());
  EXPECT_NE(Read(folder + "/f.h"), before);
  for (const auto& entry : fs::directory_iterator(folder)) {
    EXPECT_FALSE(absl::StrContains(entry.path().filename().string(), ".new")) << entry.path();
  }
}

TEST(Export, SaysWhatItCannotWrite) {
  const std::string folder = FreshFolder();
  std::ofstream(folder + "/file") << "in the way";
  const auto blocked = Export(Affine(10), "f", folder + "/file", Builders());
  EXPECT_EQ(blocked.status().code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_TRUE(absl::StartsWith(blocked.status().message(), "cannot write " + folder + "/file"))
      << blocked.status();
  fs::create_directory(folder + "/f.o");
  const auto half = Export(Affine(10), "f", folder, Builders());
  EXPECT_EQ(half.status().message(), "cannot write " + folder + "/f.o: Is a directory");
  for (const auto& entry : fs::directory_iterator(folder)) {
    EXPECT_FALSE(absl::StrContains(entry.path().filename().string(), ".new")) << entry.path();
  }
}

TEST(Export, SaysWhyAProgramCannotBeBuilt) {
  Program gpu = Affine(8);
  for (Id node = 0; node < static_cast<Id>(gpu.nodes.size()); ++node) {
    if (gpu.IsLoop(node)) gpu.loop(node).kind = LoopKind::kThreadX;
  }
  const auto exported = Export(gpu, "f", FreshFolder(), Builders());
  EXPECT_EQ(exported.status().message(), "cannot build f: loop i is thread-x, which a CPU does not have");
}

TEST(Export, MakesObjectsForOtherMachines) {
  const std::string folder = FreshFolder();
  const auto exported =
      Export(Affine(64), "f", folder, Builders(), {.triple = "aarch64-linux-gnu", .cpu = "neoverse-n1"});
  ASSERT_TRUE(exported.ok()) << exported.status();
  EXPECT_FALSE(fs::exists(folder + "/libf.so"));
  EXPECT_TRUE(absl::StrContains(Shell("readelf -h " + folder + "/f.o").text, "AArch64"));
}

}  // namespace
}  // namespace kiln
