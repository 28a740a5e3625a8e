// Tests export of a scheduled program for the CPU: header, object, shared library, MLIR and trace. C programs that use
// them need nothing else of Kiln.
#include "backends/export/export.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <set>

#include "absl/strings/match.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "build_info.h"
#include "lang/program/layout.h"
#include "lang/reference/interpreter.h"
#include "testing/compiled/run_program.h"
#include "testing/matmul.h"
#include "testing/scheduled.h"
#include "tests/backends/with_loops.h"
#include "tests/backends/workers.h"
#include "tests/support/values.h"

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
  const auto exported = Export(Affine(99), "scale", folder, Builders(), {.trace = "kiln.trace v2\n"});
  ASSERT_TRUE(exported.ok()) << exported.status();
  std::set<std::string> names;
  for (const std::string& file : exported->files) {
    EXPECT_TRUE(fs::exists(file)) << file;
    names.insert(fs::path(file).filename());
  }
  EXPECT_EQ(names, (std::set<std::string>{"scale.h", "scale.o", "libscale.so", "scale.mlir", "scale.trace"}));
  EXPECT_EQ(Read(folder + "/scale.trace"), "kiln.trace v2\n");
  std::ofstream(folder + "/use.c") << kUseAffine;
  const std::string in = "cd " + folder + " && ";
  const Output object = Shell(in + "cc -std=c99 -Wall -Wextra -Werror use.c scale.o -lm -o use && ./use");
  EXPECT_EQ(object.text, "right\n");
  const Output library = Shell(in + "cc -Wall -Werror use.c -L. -lscale -Wl,-rpath,. -o use2 && ./use2");
  EXPECT_EQ(library.text, "right\n");
  const Output cpp = Shell(in +
                           "printf '#include \"scale.h\"\\nint main() { static float x[99], y[99]; return "
                           "scale(x, y); }' > use.cc && c++ -Wall -Werror use.cc scale.o -lm -o use3 && "
                           "./use3");
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

TEST(Export, AFailedAssertionIsTheStatusAndAScalarIsAnArgument) {
  Builder b("checked");
  const Id X = b.Input("X", DType::kF32, {8}), limit = b.Scalar("limit", DType::kF32),
           Y = b.Output("Y", DType::kF32, {8}), status = b.Temporary("status", DType::kI32, {});
  const Id x = b.Load(X, {b.Iter(0)}), most = b.Load(limit, {});
  b.Compute("scaled", {{"i", 8}}, {Y, {b.Iter(0)}}, b.Mul(x, most));
  const Id holds = b.Make(Op::kCmpLe, DType::kI1, x, most);
  b.Reduce("assert", {{"i", 8, IterKind::kReduction}}, Monoid::Kind::kOr, {status, {}},
           b.Make(Op::kSelect, DType::kI32, holds, b.Integer(DType::kI32, 0), b.Integer(DType::kI32, 1)));
  b.MakeStatus(status);
  const std::string folder = FreshFolder();
  const auto exported = Export(b.Finish(), "checked", folder, Builders());
  ASSERT_TRUE(exported.ok()) << exported.status();
  std::ofstream(folder + "/use.c") << "#include \"checked.h\"" << R"(
    int main(void) {
      float x[8] = {1, 2, 3, 4, 5, 6, 7, 8}, y[8], limit = 8;
      if (checked(x, &limit, y) != 0 || y[7] != 64) return 2;
      limit = 7;
      return checked(x, &limit, y) == 1 ? 0 : 3;
    })";
  const Output output = Shell("cd " + folder + " && cc -Wall -Werror use.c checked.o -lm -o use && ./use");
  EXPECT_EQ(output.status, 0) << output.text;
  const std::string header = Read(folder + "/checked.h");
  EXPECT_TRUE(absl::StrContains(header, " *   limit  scalar f32[]\n")) << header;
  EXPECT_TRUE(absl::StrContains(header, "Functions return 0 if all is well, and otherwise 1:")) << header;
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

// Returns the program T[i, j] = X[i, j] + X[i, j]; Y[i, j] = T[i, 511 - j] with a parallel loop over i. Each iteration
// has a temporary row T of its own.
Program ParallelRows() {
  Builder b("rows");
  const Id X = b.Input("X", DType::kF32, {64, 512}), Y = b.Output("Y", DType::kF32, {64, 512}),
           T = b.Temporary("T", DType::kF32, {64, 512});
  const IndexSum i = b.Iter(0), j = b.Iter(1);
  b.Compute("twice", {{"i", 64}, {"j", 512}}, {T, {i, j}}, b.Add(b.Load(X, {i, j}), b.Load(X, {i, j})));
  b.Compute("back", {{"i", 64}, {"j", 512}}, {Y, {i, j}}, b.Load(T, {i, IndexSum::Constant(511) + j * -1}));
  Schedule s = Scheduled(b.Finish());
  const auto loops = s.GetLoops(s.GetBlock("back"));
  s.ComputeAt(s.GetBlock("twice"), loops[0]);
  s.Parallel(loops[0]);
  KILN_CHECK(s.ok(), s.status().ToString());
  return s.program();
}

// A C program in which three threads call the exported function at the same time. It prints whether each result is
// right, and how many threads the process had.
constexpr char kUseRows[] =
    "#include \"rows.h\""
    R"(
#include <dirent.h>
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>
static float x[64 * 512];
static void *call(void *unused) {
  static _Thread_local float y[64 * 512];
  for (int round = 0; round < 300; ++round) {
    if (rows(x, y) != 0) return "status";
    for (int i = 0; i < 64 * 512; ++i)
      if (y[i] != 2 * x[i / 512 * 512 + 511 - i % 512]) return "wrong";
  }
  (void)unused;
  return "right";
}
int main(void) {
  for (int i = 0; i < 64 * 512; ++i) x[i] = (float)(i % 1000);
  rows_set_threads(3);
  pthread_t callers[2];
  for (int i = 0; i < 2; ++i) pthread_create(&callers[i], 0, call, 0);
  void *said[3] = {0, 0, call(0)};
  for (int i = 0; i < 2; ++i) pthread_join(callers[i], &said[i]);
  usleep(50000);  /* what has ended is gone */
  int threads = -2;
  DIR *tasks = opendir("/proc/self/task");
  while (readdir(tasks)) ++threads;
  printf("%s %s %s %d\n", (char *)said[0], (char *)said[1], (char *)said[2], threads);
  return 0;
}
)";

TEST(Export, ParallelLoopsRunOnThePoolThatIsThere) {
  const std::string folder = FreshFolder();
  const auto exported = Export(ParallelRows(), "rows", folder, Builders());
  ASSERT_TRUE(exported.ok()) << exported.status();
  EXPECT_TRUE(fs::exists(folder + "/kiln_pool.c"));
  std::ofstream(folder + "/use.c") << kUseRows;
  const std::string cc = "cd " + folder + " && cc -std=gnu11 -Wall -Wextra -Werror use.c ";
  EXPECT_EQ(Shell(cc + "rows.o -lm -lpthread -o alone && ./alone").text, "right right right 1\n");
  EXPECT_EQ(Shell(cc + "rows.o kiln_pool.c -lm -lpthread -o with && ./with").text, "right right right 3\n");
  EXPECT_EQ(Shell(cc + "-L. -lrows -Wl,-rpath,. -lpthread -o shared && ./shared").text,
            "right right right 3\n");
  const Output symbols =
      Shell("cd " + folder + " && nm -g rows.o | sed 's/^[0-9a-f ]*//' | sort | tr '\\n' ' '");
  EXPECT_EQ(symbols.text, "T rows T rows_set_threads w kiln_parallel_for ");
  const Output shared =
      Shell("cd " + folder + " && nm -D --defined-only librows.so | awk '{print $3}' | sort");
  EXPECT_EQ(shared.text, "rows\nrows_set_threads\n");
  const std::string header = Read(folder + "/rows.h");
  EXPECT_TRUE(absl::StrContains(header, "\nvoid rows_set_threads(int threads);\n")) << header;
  EXPECT_TRUE(absl::StrContains(header,
                                " * rows_set_threads says how many threads share the work of a call, 1 at "
                                "first."))
      << header;
}

// Opens, calls and closes the exported library three times. dlclose must not unload a library with a thread pool, since
// its threads may still run its code.
TEST(Export, ALibraryWithThreadsStaysWhenItIsClosed) {
  const std::string folder = FreshFolder();
  ASSERT_TRUE(Export(ParallelRows(), "rows", folder, Builders()).ok());
  std::ofstream(folder + "/use.c") << R"(
    #include <dlfcn.h>
    #include <unistd.h>
    int main(void) {
      static float x[64 * 512], y[64 * 512];
      for (int i = 0; i < 3; ++i) {
        void* library = dlopen("./librows.so", RTLD_NOW);
        ((void (*)(int))dlsym(library, "rows_set_threads"))(2);
        if (((int (*)(float*, float*))dlsym(library, "rows"))(x, y) != 0) return 2;
        dlclose(library);
        usleep(20000);
      }
      return 0;
    })";
  const Output output = Shell("cd " + folder + " && cc -Wall -Werror use.c -ldl -o use && ./use");
  EXPECT_EQ(output.status, 0) << output.text;
}

TEST(Export, AnObjectForAnotherMachineRunsOnItsThreadsToo) {
  const std::string folder = FreshFolder();
  ASSERT_TRUE(Export(ParallelRows(), "rows", folder, Builders(), {.triple = "aarch64-linux-gnu"}).ok());
  std::ofstream(folder + "/use.c") << kUseRows;
  const std::string cc =
      absl::StrCat("cd ", folder, " && ", KILN_CXX_COMPILER,
                   " --target=aarch64-linux-gnu -fuse-ld=lld -static -nostdlib++ -x c use.c ");
  const std::string alone = Shell(cc + "-x none rows.o -lm -o alone && qemu-aarch64 ./alone").text,
                    with = Shell(cc + "kiln_pool.c -x none rows.o -lm -o with && qemu-aarch64 ./with").text;
  int before = 0, after = 0;  // numbers of threads, which include those of qemu
  EXPECT_EQ(std::sscanf(alone.c_str(), "right right right %d", &before), 1) << alone;
  EXPECT_EQ(std::sscanf(with.c_str(), "right right right %d", &after), 1) << with;
  EXPECT_EQ(after, before + 2);
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
  EXPECT_EQ(CallKernel(*loaded, "mm", {a.data(), b.data(), c.data()}), 0);
  for (int i = 0; i < 8; ++i) {
    for (int j = 0; j < 16; ++j) {
      float sum = 0;
      for (int k = 0; k < 8; ++k) sum += a[i * 8 + k] * b[k * 16 + j];
      EXPECT_EQ(c[i * 16 + j], sum);
    }
  }
}

// Exports the program, runs the exported MLIR text with stock MLIR passes and MLIR's own runner, and returns the
// output.
std::vector<float> RunByMlir(const Program& p, const std::vector<std::vector<float>>& inputs) {
  const std::string folder = FreshFolder();
  EXPECT_TRUE(Export(p, "kernel", folder, Builders()).ok());
  std::string module = Read(folder + "/kernel.mlir"), data, main;
  std::vector<std::string> names, types;
  for (size_t i = 0; i < p.parameters.size(); ++i) {
    names.push_back(absl::StrCat("%", i));
    types.push_back(absl::StrCat("memref<", BytesOf(p, p.parameters[i]) / 4, "xf32>"));
    const std::string values =
        i < inputs.size() ? absl::StrCat("[", absl::StrJoin(inputs[i], ".0, "), ".0]") : "99.0";
    absl::StrAppend(&data, "memref.global @p", i, " : ", types[i], " = dense<", values, ">\n");
    absl::StrAppend(&main, names[i], " = memref.get_global @p", i, " : ", types[i], "\n");
  }
  absl::StrAppend(&main, "call @kernel(", absl::StrJoin(names, ", "), ") : (", absl::StrJoin(types, ", "),
                  ") -> i32\n%out = memref.cast ", names.back(), " : ", types.back(),
                  " to memref<*xf32>\ncall @printMemrefF32(%out) : (memref<*xf32>) -> ()\nreturn\n");
  module.insert(module.rfind('}'), absl::StrCat(data, "func.func private @printMemrefF32(memref<*xf32>)\n",
                                                "func.func @main() {\n", main, "}\n"));
  std::ofstream(folder + "/main.mlir") << module;
  const Output output = Shell(
      "{ PATH=$PATH:/usr/lib/llvm-22/bin; cd " + folder +
      " && mlir-opt main.mlir --convert-vector-to-scf --convert-scf-to-cf --convert-to-llvm "
      "--reconcile-unrealized-casts -o llvm.mlir && mlir-runner llvm.mlir -e main -entry-point-result=void "
      "-shared-libs=/usr/lib/llvm-22/lib/libmlir_runner_utils.so; }");
  std::vector<float> result;
  const size_t open = output.text.find("data = \n[");
  EXPECT_NE(open, std::string::npos) << output.text << module;
  if (open == std::string::npos) return result;
  for (absl::string_view number :
       absl::StrSplit(output.text.substr(open + 9), absl::ByAnyChar(", ]\n"), absl::SkipEmpty()))
    result.push_back(std::stof(std::string(number)));
  return result;
}

// Expects that the exported MLIR text, run with stock MLIR passes, computes exactly what the interpreter computes, on
// inputs of small integers.
void ExpectMlirComputes(const Program& p) {
  std::vector<std::vector<float>> inputs;
  std::vector<std::string> bytes;
  for (size_t i = 0; i + 1 < p.parameters.size(); ++i) {
    const auto values =
        Random<float>(static_cast<size_t>(BytesOf(p, p.parameters[i]) / 4), static_cast<int>(i));
    inputs.emplace_back();
    for (size_t n = 0; n < values.size(); ++n) inputs[i].push_back(values[n]);
    bytes.push_back(BytesOfValues(inputs[i]));
  }
  const auto wanted = Run(p, bytes);
  ASSERT_TRUE(wanted.ok()) << wanted.status();
  EXPECT_EQ(RunByMlir(p, inputs), ValuesOf<float>((*wanted)[0]));
}

TEST(Export, StockMlirRunsATiledMatmul) {
  ExpectMlirComputes(
      TiledMatmul(Matmul(16, 32, 8), Target(), {{2, 2, 4}, {1, 2, 16}, {2, 4}}, true).program());
}

TEST(Export, StockMlirRunsParallelLoopsInTurn) { ExpectMlirComputes(ParallelRows()); }

// Y[h, w, c] sum= X[h + kh - 1, w + kw - 1] * F[kh, kw, c], where X is 0 outside its bounds. The loop over w is tiled
// with an incomplete last tile, and the loop over c is vectorized.
TEST(Export, StockMlirRunsAPaddedConvolution) {
  Builder b("conv");
  const Id X = b.Input("X", DType::kF32, {6, 7}), F = b.Input("F", DType::kF32, {3, 3, 8}),
           Y = b.Output("Y", DType::kF32, {6, 7, 8});
  const IndexSum h = b.Iter(0), w = b.Iter(1), c = b.Iter(2), kh = b.Iter(3), kw = b.Iter(4);
  const IndexSum y = h + kh + IndexSum::Constant(-1), x = w + kw + IndexSum::Constant(-1);
  b.Reduce(
      "conv",
      {{"h", 6}, {"w", 7}, {"c", 8}, {"kh", 3, IterKind::kReduction}, {"kw", 3, IterKind::kReduction}},
      Monoid::Kind::kSum, {Y, {h, w, c}},
      b.Mul(b.Within({{y, 6}, {x, 7}}, b.Load(X, {y, x}), b.Float(DType::kF32, 0)), b.Load(F, {kh, kw, c})));
  Schedule s = Scheduled(b.Finish());
  const auto loops = s.GetLoops(s.GetBlock("conv"));
  const auto tiles = s.Split(loops[1], {-1, 3});  // 7: the last tile is not full
  s.Reorder({loops[3], loops[4], tiles[1], loops[2]});
  s.Vectorize(loops[2]);
  ASSERT_TRUE(s.ok()) << s.status();
  ExpectMlirComputes(s.program());
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
  const Program gpu = WithLoops(Affine(8), LoopKind::kThreadX);
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
