// Tests exports for a GPU: header, C source, shared library, cubin and PTX. C programs call the exported function with
// the fake driver (fake_cuda/fake_cuda.cc), which runs the kernels in the emulator.
#include <gtest/gtest.h>
#include <sys/wait.h>

#include "absl/strings/str_replace.h"
#include "backends/export/export.h"
#include "testing/gpu_schedules.h"
#include "testing/matmul.h"
#include "testing/softmax.h"
#include "tests/gpu/gpu_product.h"
#include "tests/gpu/on_gpu.h"

namespace kiln {
namespace {

namespace fs = std::filesystem;

std::string FreshFolder() {
  std::string name = testing::TempDir() + "kiln-gpu-export-XXXXXX";
  return mkdtemp(name.data());
}

std::string Shell(const std::string& command) {
  std::string text;
  FILE* pipe = popen((command + " 2>&1").c_str(), "r");
  char buffer[4096];
  for (size_t n; (n = fread(buffer, 1, sizeof buffer, pipe)) > 0;) text.append(buffer, n);
  const int status = WEXITSTATUS(pclose(pipe));
  return status == 0 ? text : absl::StrCat(text, "status ", status, "\n");
}

std::string Read(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

// C code with which the test programs begin: functions that make a CUDA context and allocate memory of the GPU.
constexpr char kGpu[] = R"(
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
int cuInit(unsigned);
int cuDevicePrimaryCtxRetain(void**, int);
int cuCtxSetCurrent(void*);
int cuMemAlloc_v2(uint64_t*, size_t);
int cuMemcpyHtoD_v2(uint64_t, const void*, size_t);
int cuMemcpyDtoH_v2(void*, uint64_t, size_t);
int cuCtxSynchronize(void);
static void use_gpu(void) {
  void* context;
  if (cuInit(0) || cuDevicePrimaryCtxRetain(&context, 0) || cuCtxSetCurrent(context)) exit(3);
}
static void* on_gpu(const float* values, size_t count) {
  uint64_t address;
  if (cuMemAlloc_v2(&address, count * sizeof(float))) exit(4);
  if (values != NULL && cuMemcpyHtoD_v2(address, values, count * sizeof(float))) exit(5);
  return (void*)address;
}
static void from_gpu(float* values, const void* address, size_t count) {
  if (cuCtxSynchronize() || cuMemcpyDtoH_v2(values, (uint64_t)address, count * sizeof(float))) exit(6);
}
)";

// Exports a scheduled program to a folder, compiles a C program that calls the exported function, and runs it with the
// fake driver.
class GpuExport : public testing::Test {
 protected:
  Exported ExportTo(const Program& scheduled, const std::string& name) {
    product_ = CompileForGpu(scheduled, folder_);
    const auto exported = ExportGpu(scheduled, name, folder_, product_, {.trace = "kiln.trace v2\n"});
    EXPECT_TRUE(exported.ok()) << exported.status();
    return exported.value_or(Exported());
  }
  std::string RunC(const std::string& text, const std::string& name, const std::string& flags = "") {
    std::ofstream(folder_ + "/use.c") << "#include \"" << name << ".h\"\n" << text;
    return Shell(absl::StrCat("cd ", folder_, " && cc -std=c99 -Wall -Wextra -Werror use.c ", flags,
                              " -L. -l", name, " -Wl,-rpath,. -L", kFakeCuda, " -l:libcuda.so.1 -Wl,-rpath,",
                              kFakeCuda, " -o use && LD_LIBRARY_PATH=", kFakeCuda,
                              " KILN_FAKE_CUDA=", folder_, " KILN_FAKE_CUDA_LOG=", folder_, "/log ./use"));
  }

  const std::string folder_ = FreshFolder();
  GpuProduct product_;
};

constexpr char kUseProduct[] = R"(
enum { kM = 32, kN = 24, kK = 16 };
static float a[kM * kK], b[kK * kN], c[kM * kN];
int main(void) {
  use_gpu();
  for (int i = 0; i < kM * kK; ++i) a[i] = (float)(i % 7 - 3);
  for (int i = 0; i < kK * kN; ++i) b[i] = (float)(i % 5 - 2);
  void *A = on_gpu(a, kM * kK), *B = on_gpu(b, kK * kN), *C = on_gpu(NULL, kM * kN);
  if (mm_workspace_bytes() != 0) return 2;
  for (int turn = 0; turn < 2; ++turn) {
    if (mm(NULL, A, B, C, NULL) != 0) return puts(mm_error()), 1;
  }
  from_gpu(c, C, kM * kN);
  for (int i = 0; i < kM; ++i)
    for (int j = 0; j < kN; ++j) {
      float sum = 0;
      for (int k = 0; k < kK; ++k) sum += a[i * kK + k] * b[k * kN + j];
      if (c[i * kN + j] != sum) return printf("wrong at %d %d\n", i, j), 1;
    }
  puts("right");
  return 0;
}
)";

TEST_F(GpuExport, ACProgramCallsTheProduct) {
  const Program program = Matmul(32, 24, 16);
  const Exported exported = ExportTo(SimtMatmul(program).program(), "mm");
  EXPECT_EQ(exported.remark, "");
  std::set<std::string> names;
  for (const std::string& file : exported.files) {
    EXPECT_TRUE(fs::exists(file)) << file;
    names.insert(fs::path(file).filename());
  }
  EXPECT_EQ(names, (std::set<std::string>{"mm.h", "mm.c", "libmm.so", "mm.cubin", "mm.ptx", "mm.trace"}));
  EXPECT_EQ(RunC(std::string(kGpu) + kUseProduct, "mm"), "right\n");
  // In the log of the fake driver, the first call of mm loads the cubin, and the second only launches the kernel.
  EXPECT_EQ(
      absl::StrReplaceAll(Read(folder_ + "/log"), {{HashOfImage(ImageAt(product_.cubin.data())), "HASH"}}),
      R"(cuMemAlloc 2048
cuMemcpyHtoD 2048
cuMemAlloc 1536
cuMemcpyHtoD 1536
cuMemAlloc 3072
cuLibraryLoadData HASH
cuLibraryGetKernel matmul_0
cuLaunchKernel matmul_0 blocks 6 threads 16 shared 768 arguments 3
cuLaunchKernel matmul_0 blocks 6 threads 16 shared 768 arguments 3
cuMemcpyDtoH 3072
)");
  // The exported mm.c compiles without warnings as C, and a C++ program can include mm.h.
  EXPECT_EQ(
      Shell(
          "cd " + folder_ +
          " && cc -std=gnu99 -Wall -Wextra -Werror -c mm.c -o mm.o && printf '#include \"mm.h\"\\nint f() { "
          "return mm(0, 0, 0, 0, 0); }' > use.cc && c++ -Wall -Werror -c use.cc"),
      "");
  const std::string needed =
      Shell("readelf -d " + folder_ + "/libmm.so | grep NEEDED | grep -v 'libc.so\\|libdl\\|ld-linux'");
  EXPECT_EQ(needed, "status 1\n");
}

constexpr char kUseTensors[] = R"(
static int64_t shape_a[] = {32, 16}, shape_b[] = {16, 24}, shape_c[] = {32, 24}, strides[] = {24, 1}, other[] = {1, 32};
static KilnDLTensor tensor(void* data, int64_t* shape) {
  KilnDLTensor t = {data, 2, 0, 2, 2, 32, 1, shape, NULL, 0};
  return t;
}
int main(void) {
  use_gpu();
  static float ones[512];
  for (int i = 0; i < 512; ++i) ones[i] = 1;
  KilnDLTensor a = tensor(on_gpu(ones, 512), shape_a), b = tensor(on_gpu(ones, 384), shape_b),
               c = tensor(on_gpu(NULL, 776), shape_c);
  KilnDLTensor* all[] = {&a, &b, &c};
  c.strides = strides, c.byte_offset = 32;
  if (mm_dl(NULL, all) != 0) return puts(mm_error()), 1;
  float values[2];
  from_gpu(values, (char*)c.data + 32, 2);
  printf("%g %g\n", values[0], values[1]);
#define TRY(change, back) change; if (mm_dl(NULL, all) != -2) return 1; puts(mm_error()); back
  TRY(a.device_type = 1, a.device_type = 2);
  TRY(a.device_id = 1, a.device_id = 0);
  TRY(b.bits = 16, b.bits = 32);
  TRY(b.code = 0, b.code = 2);
  TRY(b.ndim = 1, b.ndim = 2);
  TRY(shape_b[1] = 23, shape_b[1] = 24);
  TRY(c.strides = other, c.strides = strides);
  TRY(c.byte_offset = 4, c.byte_offset = 32);
  TRY(a.data = NULL, (void)0);
  return 0;
}
)";

TEST_F(GpuExport, TensorsAreChecked) {
  ExportTo(SimtMatmul(Matmul(32, 24, 16)).program(), "mm");
  EXPECT_EQ(RunC(std::string(kGpu) + kUseTensors, "mm"),
            R"(16 16
mm: A is on a device of type 1; type 2, a GPU of NVIDIA, is wanted
mm: A is on GPU 1; the context of this thread is on GPU 0
mm: B has code 2, 16 bits and 1 lanes of DLPack; f32 is wanted
mm: B has code 0, 32 bits and 1 lanes of DLPack; f32 is wanted
mm: B has 1 dimensions; 2 are wanted
mm: dimension 1 of B is 23; 24 is wanted
mm: C is not contiguous: stride 1 is 32; 1 is wanted
mm: C is not aligned to 16 bytes
mm: A is null
)");
}

constexpr char kUseSoftmax[] = R"(
static float x[5 * 33], y[5 * 33];
int main(void) {
  for (int i = 0; i < 5 * 33; ++i) x[i] = (float)(i % 9) / 4;
  void *X = (void*)16, *Y = (void*)16;
  printf("%d %s\n", softmax(NULL, X, Y, (void*)16), softmax_error());
  use_gpu();
  printf("%d ", softmax(NULL, X, Y, NULL)), puts(softmax_error());
  printf("%d ", softmax(NULL, (void*)20, Y, (void*)16)), puts(softmax_error());
  X = on_gpu(x, 5 * 33), Y = on_gpu(NULL, 5 * 33);
  void* workspace = on_gpu(NULL, (size_t)softmax_workspace_bytes() / sizeof(float));
  if (softmax(NULL, X, Y, workspace) != 0) return puts(softmax_error()), 1;
  from_gpu(y, Y, 5 * 33);
  float most = 0;
  for (int r = 0; r < 5; ++r) {
    float sum = 0;
    for (int i = 0; i < 33; ++i) sum += y[r * 33 + i];
    if (sum - 1 > most || 1 - sum > most) most = sum > 1 ? sum - 1 : 1 - sum;
  }
  puts(most < 1e-5f ? "rows sum to 1" : "wrong");
  return 0;
}
)";

TEST_F(GpuExport, SeveralKernelsShareAWorkspace) {
  const Program program = Softmax(5, 33);
  Schedule s = Scheduled(program);
  for (const char* block : {"max", "exp", "sum", "div"}) {
    const auto parts = s.Split(s.GetLoops(s.GetBlock(block))[0], {kAuto, 4});
    s.Bind(parts[0], LoopKind::kBlockX);
    s.Bind(parts[1], LoopKind::kThreadX);
  }
  ASSERT_TRUE(s.ok()) << s.status();
  ExpectSameOnGpu(program, s.program());
  ExportTo(s.program(), "softmax");
  EXPECT_EQ(product_.launches.launches.size(), 4);
  EXPECT_EQ(RunC(std::string(kGpu) + kUseSoftmax, "softmax"),
            R"(201 softmax: cuLaunchKernel: invalid device context (CUresult 201)
-2 softmax: the workspace is null
-2 softmax: x is not aligned to 16 bytes
rows sum to 1
)");
}

TEST_F(GpuExport, SaysThatThereIsNoDriver) {
  ExportTo(SimtMatmul(Matmul(32, 24, 16)).program(), "mm");
  std::ofstream(folder_ + "/use.c")
      << "#include \"mm.h\"\n#include <stdio.h>\nint main(void) { int s = mm(0, (void*)16, "
         "(void*)16, (void*)16, 0); printf(\"%d %.30s\\n\", s, mm_error()); return 0; }\n";
  EXPECT_EQ(Shell("cd " + folder_ + " && cc use.c -L. -lmm -Wl,-rpath,. -o use && ./use"),
            "-1 mm: no driver of NVIDIA: libcu\n");
}

TEST_F(GpuExport, ANameOfOursIsNoParameter) {
  Builder b("scale");
  const Id X = b.Input("stream", DType::kF32, {64}), Y = b.Output("workspace", DType::kF32, {64});
  b.Compute("scale", {{"i", 64}}, {Y, {b.Iter(0)}}, b.Load(X, {b.Iter(0)}));
  const Program program = b.Finish();
  Schedule s = Scheduled(program);
  s.Bind(s.GetLoops(s.GetBlock("scale"))[0], LoopKind::kThreadX);
  ASSERT_TRUE(s.ok()) << s.status();
  ExpectSameOnGpu(program, s.program());
  ExportTo(s.program(), "scale");
  EXPECT_NE(Read(folder_ + "/scale.h")
                .find("int scale(void* stream,\n          const void* stream_,\n          void* "
                      "workspace_,\n          void* workspace);"),
            std::string::npos);
}

}  // namespace
}  // namespace kiln
