// Tests kiln-gpu-runner, the process that runs and times kernels on a GPU, with the fake driver
// (fake_cuda/fake_cuda.cc): it recovers from faults, checks results and guards, times, and measures bundles.
#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/wait.h>

#include <filesystem>
#include <fstream>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "backends/gpu/driver/wanted_elements.h"
#include "backends/measure/kernel.h"
#include "backends/runner/pool.h"
#include "backends/runner/protocol.h"
#include "lang/reference/interpreter.h"
#include "nlohmann/json.hpp"
#include "testing/gpu_schedules.h"
#include "testing/matmul.h"
#include "tests/gpu/gpu_product.h"

namespace kiln {
namespace {

using Json = nlohmann::json;

constexpr char kRunner[] = KILN_BUILD_DIR "/kiln-gpu-runner";

std::string FreshFolder() {
  std::string name = testing::TempDir() + "kiln-gpu-runner-XXXXXX";
  return mkdtemp(name.data());
}

std::string Read(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

std::string Shell(const std::string& command) {
  std::string text;
  FILE* pipe = popen((command + " 2>&1").c_str(), "r");
  char buffer[4096];
  for (size_t n; (n = fread(buffer, 1, sizeof buffer, pipe)) > 0;) text.append(buffer, n);
  pclose(pipe);
  return text;
}

// Kernels in C for the fake driver that compute y = 2x for 64 elements, or fail in the way that their name says, such
// as `endless`, or `beside`, which writes behind y.
constexpr char kKernels[] = R"(
#define KERNEL(name, body) \
  int name##_arguments(void) { return 2; } \
  int name##_launch(void* const* a, const long* bytes, long blocks, long threads, long shared) { \
    float *x = a[0], *y = a[1]; (void)bytes, (void)blocks, (void)threads, (void)shared; \
    body return 0; \
  }
#define TWICE for (int i = 0; i < 64; ++i) y[i] = 2 * x[i];
KERNEL(good, TWICE)
KERNEL(illegal, return 86;)
KERNEL(endless, for (volatile int i = 0;; ++i) {})
KERNEL(dies, __builtin_trap();)
KERNEL(beside, TWICE y[64] = 0;)
KERNEL(before, TWICE y[-1] = 0;)
KERNEL(input, TWICE x[3] = 1;)
KERNEL(wrong, TWICE y[5] = 3;)
KERNEL(lazy, y[0] = 2 * x[0];)
KERNEL(reads, TWICE y[5] = 2 * x[5] + 0 * x[64];)
KERNEL(seldom, static int runs; TWICE y[7] += ++runs % 5 == 0;)
KERNEL(once, static int runs; TWICE y[5] += runs++ == 0 ? 0 : 3;)
KERNEL(infinite, for (int i = 0; i < 64; ++i) y[i] = x[i] > 1 || x[i] < -1 ? 1 / 0.0f : 2 * x[i];)
)";

class GpuRunner : public testing::Test {
 protected:
  static void SetUpTestSuite() { setenv("LD_LIBRARY_PATH", kFakeCuda.c_str(), 1); }

  GpuRunner() {
    setenv("KILN_FAKE_CUDA", folder_.c_str(), 1);
    std::ofstream(folder_ + "/kernels.c") << kKernels;
    EXPECT_EQ(Shell("cd " + folder_ + " && cc -O1 -fPIC -shared kernels.c -o kernels.so"), "");
    auto pool = RunnerPool::Start({.runner_path = kRunner});
    EXPECT_TRUE(pool.ok()) << pool.status();
    pool_ = *std::move(pool);
  }

  RunRequest Twice(const std::string& kernel, int runs = 0) {
    constexpr int64_t kBytes = 64 * sizeof(float);
    const LaunchList list = {
        .parameters = {kBytes, kBytes},
        .launches = {{.kernel = kernel,
                      .arguments = {{.value = 0, .bytes = kBytes, .is_read = true},
                                    {.value = 1, .bytes = kBytes, .is_written = true}}}}};
    std::vector<WantedElement> wanted;
    for (const int64_t i : {0, 5, 63}) wanted.push_back({1, i, 2 * InputValue(7, 0, "f32", i)});
    return {.kernel = {.shared_object = Read(folder_ + "/kernels.so"),
                       .params = {{.dtype = "f32", .elements = 64},
                                  {.dtype = "f32", .elements = 64, .role = KernelParam::kOutput}},
                       .fields = {{kLaunchListField, Encode(list)}, {kWantedElementsField, Encode(wanted)}}},
            .data_seed = 7,
            .timing = {.runs = runs, .max_seconds = 0.2},
            .limits = {.seconds = 2, .bytes = 1 << 20}};
  }
  std::string StatusOf(const RunRequest& request) {
    const RunResult result = pool_->Submit(request).get();
    return absl::StrCat(RunStatusName(result.status), result.detail.empty() ? "" : ": ", result.detail);
  }

  const std::string folder_ = FreshFolder();
  std::unique_ptr<RunnerPool> pool_;
};

TEST_F(GpuRunner, GoesOnAfterEachFault) {
  const std::string fault =
      "crashed: the kernels failed: cuCtxSynchronize: an illegal memory access was encountered "
      "(CUresult 700)";
  EXPECT_EQ(StatusOf(Twice("good")), "ok");
  EXPECT_EQ(StatusOf(Twice("illegal")), fault);
  EXPECT_EQ(StatusOf(Twice("illegal")), fault);
  EXPECT_EQ(StatusOf(Twice("good")), "ok");
  EXPECT_EQ(StatusOf(Twice("endless")), "timed_out: did not end within 2 s");
  EXPECT_EQ(StatusOf(Twice("good", 3)), "ok");
  EXPECT_EQ(StatusOf(Twice("dies")),
            "crashed: the process that uses the GPU was ended by Illegal instruction");
  EXPECT_EQ(
      StatusOf(Twice("missing")),
      "load_failed: cannot load the kernels: cuLibraryGetKernel: named symbol not found (CUresult 500)");
  EXPECT_EQ(StatusOf(Twice("good", 3)), "ok");
}

TEST_F(GpuRunner, ChecksWhatKernelsWrote) {
  EXPECT_EQ(StatusOf(Twice("beside")), "guard_violated: wrote behind parameter 1");
  EXPECT_EQ(StatusOf(Twice("before")), "guard_violated: wrote before parameter 1");
  EXPECT_EQ(StatusOf(Twice("input")), "guard_violated: wrote to parameter 0, an input");
  EXPECT_TRUE(
      absl::StartsWith(StatusOf(Twice("wrong")), "wrong_result: parameter 1, element 5: 3 instead of "));
  EXPECT_TRUE(absl::StartsWith(StatusOf(Twice("lazy")), "wrong_result: parameter 1, element 5: "));
}

// The bytes around each buffer (guards) are NaN. Tests that a kernel which reads the element behind x fails, as its
// result is NaN.
TEST_F(GpuRunner, FindsReadsBesideABuffer) {
  EXPECT_EQ(StatusOf(Twice("reads")).substr(0, 43), "wrong_result: parameter 1, element 5: nan i");
}

TEST_F(GpuRunner, RunsAgainWithOtherInputs) {
  RunRequest request = Twice("seldom");
  EXPECT_EQ(StatusOf(request), "ok");  // the first run is right
  request.kernel.fields.push_back({kRepeatedRunsField, "9"});
  EXPECT_EQ(
      StatusOf(request),
      "wrong_result: parameter 1, elements 0 to 63: two runs with equal inputs wrote different values, as "
      "with a race");
  request = Twice("good");
  request.kernel.fields.push_back({kRepeatedRunsField, "9"});
  EXPECT_EQ(StatusOf(request), "ok");
}

TEST_F(GpuRunner, ComparesAgainAfterTheTiming) {
  EXPECT_EQ(StatusOf(Twice("once")), "ok");
  const std::string status = StatusOf(Twice("once", 2));
  EXPECT_TRUE(absl::StartsWith(status, "wrong_result: parameter 1, element 5: ")) << status;
  EXPECT_TRUE(absl::EndsWith(status, ", after the timing")) << status;
}

// The runner has 64 copies of the buffers, captures many launches of a short kernel in a CUDA graph, and replays that
// for each sample. Tests that the graph runs the kernel equally often on each copy.
TEST_F(GpuRunner, ReplaysTheRunsOfAShortKernel) {
  const std::string log = folder_ + "/log";
  setenv("KILN_FAKE_CUDA_LOG", log.c_str(), 1);
  auto pool = RunnerPool::Start({.runner_path = kRunner});
  ASSERT_TRUE(pool.ok()) << pool.status();
  const RunResult result = (*pool)->Submit(Twice("good", 3)).get();
  unsetenv("KILN_FAKE_CUDA_LOG");
  EXPECT_EQ(result.status, RunStatus::kOk) << result.detail;
  int replays = 0, runs = 0;
  for (const absl::string_view line : absl::StrSplit(Read(log), '\n'))
    replays += sscanf(std::string(line).c_str(), "cuGraphLaunch of %d", &runs) == 1;
  EXPECT_GE(replays, 3);
  EXPECT_GT(runs, 0);
  EXPECT_EQ(runs % 64, 0);
}

// In stress sets, inputs differ by factors of up to 1e19. Tests that a kernel whose result is infinite fails where the
// reference's is finite, and passes where the reference's is NaN.
TEST_F(GpuRunner, RunsWithInputsThatLieFarApart) {
  RunRequest request = Twice("infinite");
  EXPECT_EQ(StatusOf(request), "ok");
  request.stress = {.sets = 2, .reference = folder_ + "/finite"};
  std::ofstream(request.stress.reference, std::ios::binary) << std::string(2 * 64 * sizeof(float), '\0');
  const std::string status = StatusOf(request);
  EXPECT_TRUE(absl::StartsWith(status, "wrong_result: parameter 1, element ")) << status;
  EXPECT_TRUE(absl::EndsWith(status, "inf instead of 0, with inputs that lie far apart")) << status;
  // With a reference that is NaN everywhere, results need not be finite.
  std::ofstream(request.stress.reference, std::ios::binary) << std::string(2 * 64 * sizeof(float), '\xff');
  EXPECT_EQ(StatusOf(request), "ok");
}

TEST_F(GpuRunner, ComparesTheOccupancy) {
  RunRequest request = Twice("good");
  request.kernel.fields.push_back({kBlocksPerSmField, "32"});
  EXPECT_EQ(StatusOf(request), "ok");
  request.kernel.fields.back().bytes = "8";
  EXPECT_EQ(StatusOf(request), "wrong_result: an SM holds 32 blocks of good, not 8");
}

TEST_F(GpuRunner, SaysThatHeatSlowsTheGpuDown) {
  EXPECT_TRUE(pool_->Submit(Twice("good", 3)).get().quiet);
  setenv("KILN_FAKE_SLOWED", "0x40", 1);
  auto pool = RunnerPool::Start({.runner_path = kRunner});
  unsetenv("KILN_FAKE_SLOWED");
  ASSERT_TRUE(pool.ok()) << pool.status();
  EXPECT_FALSE((*pool)->Submit(Twice("good", 3)).get().quiet);
}

TEST_F(GpuRunner, RefusesWhatIsNoRequestForAGpu) {
  RunRequest request = Twice("good");
  request.kernel.fields.clear();
  EXPECT_EQ(StatusOf(request), "load_failed: the kernel has no list of launches");
  request = Twice("good");
  request.kernel.params[1].elements = 63;
  EXPECT_EQ(StatusOf(request),
            "load_failed: parameter 1 has 63 elements of 'f32', but launches use 256 bytes");
  request = Twice("good");
  request.limits.bytes = 500;
  EXPECT_EQ(StatusOf(request), "out_of_memory: the parameters have 512 bytes, but only 500 are allowed");
  request = Twice("good");
  request.kernel.shared_object = "text";
  EXPECT_EQ(StatusOf(request),
            "load_failed: cannot load the kernels: cuLibraryLoadData: device kernel image is invalid "
            "(CUresult 200)");
}

TEST_F(GpuRunner, RunsTheKernelsOfAScheduledProgram) {
  const Program program = Matmul(32, 24, 16);
  const Schedule schedule = SimtMatmul(program);
  const GpuProduct product = CompileForGpu(schedule.program(), folder_);
  RunRequest request{
      .kernel = GpuKernelOf(program, product.cubin, product.launches, {}, TolerancesOf(program)),
      .data_seed = 3,
      .timing = {.runs = 4, .max_seconds = 10},
      .limits = {.seconds = 60, .bytes = 4 << 20}};
  const auto wanted = ::kiln::Run(program, TrialInputs(program, 3, RangesOf(program, 3)));
  ASSERT_TRUE(wanted.ok()) << wanted.status();
  request.reference = folder_ + "/wanted";
  std::ofstream(request.reference, std::ios::binary) << (*wanted)[0];
  request.peers = {request.kernel};
  request.reference_kernel = ReferenceKernel{.kernel = Twice("good").kernel, .seconds = 1e-9};
  request.write_reference_to = folder_ + "/found";
  const RunResult result = pool_->Submit(request).get();
  EXPECT_EQ(result.status, RunStatus::kOk) << result.detail;
  EXPECT_EQ(result.seconds.size(), 4);
  EXPECT_EQ(result.peer_seconds.size(), 1);
  EXPECT_LE(result.max_error, 1);
  EXPECT_GT(result.slowdown, 1.1);
  EXPECT_FALSE(result.quiet);
  EXPECT_EQ(Read(folder_ + "/found").size(), (*wanted)[0].size());
}

TEST_F(GpuRunner, MeasuresABundleAlone) {
  std::ofstream index(folder_ + "/bundle.txt");
  for (const char* kernel : {"good", "endless", "good"}) {
    const std::string file = absl::StrCat(kernel, ".request");
    std::ofstream(folder_ + "/" + file, std::ios::binary) << Encode(Twice(kernel, 3));
    index << file << "\t{\"item\": \"time\", \"name\": \"" << kernel << "\"}\n";
  }
  index << "missing.request\t{\"item\": \"time\", \"name\": \"missing\"}\n";
  index.close();
  const std::string text = Shell(absl::StrCat(kRunner, " --bundle ", folder_));
  std::vector<Json> lines;
  for (const absl::string_view line : absl::StrSplit(text, '\n', absl::SkipEmpty()))
    lines.push_back(Json::parse(std::string(line)));
  ASSERT_EQ(lines.size(), 6) << text;
  EXPECT_EQ(lines[0]["machine"]["fingerprint"], "Emulated GPU, sm_90, 4 SMs");
  EXPECT_EQ(lines[1]["name"], "good");
  EXPECT_EQ(lines[1]["status"], "ok");
  EXPECT_EQ(lines[1]["samples"].size(), 3);
  EXPECT_EQ(lines[1]["state"]["clock_mhz"], 990);
  EXPECT_EQ(lines[2]["status"], "timed_out");
  EXPECT_EQ(lines[3]["status"], "ok");
  EXPECT_EQ(lines[4]["status"], "load_failed");
  EXPECT_EQ(lines[5], Json::parse(R"({"item": "end", "run": 4, "left_out": 0, "starts": 2})"));
}

TEST(GpuRunnerProgram, IsSmallAndNeedsLibcAlone) {
  EXPECT_LT(std::filesystem::file_size(kRunner), 2 << 20);
  const std::string needed = Shell(absl::StrCat("readelf -d ", kRunner, " | grep NEEDED"));
  for (const absl::string_view line : absl::StrSplit(needed, '\n', absl::SkipEmpty()))
    EXPECT_TRUE(absl::StrContains(line, "[libc.so.6]") || absl::StrContains(line, "[libm.so.6]") ||
                absl::StrContains(line, "[ld-linux") || absl::StrContains(line, "[libdl.so.2]"))
        << line;
}

TEST(GpuRunnerProgram, SaysThatThereIsNoGpu) {
  const std::string text = Shell(absl::StrCat("LD_LIBRARY_PATH= ", kRunner, " --machine"));
  EXPECT_TRUE(absl::StartsWith(text, "kiln-gpu-runner: ")) << text;
}

}  // namespace
}  // namespace kiln
