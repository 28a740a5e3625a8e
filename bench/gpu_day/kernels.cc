// Writes the part of a day with a GPU (scripts/gpu-day) that is the same each time: kernels whose results are known,
// faults from which the runner must recover, the rate of a copy and the time of a launch, and kernels that are timed
// again and again.
//
//   kiln_gpu_day -o FOLDER [--chip sm_90a] [--elements N] [--stand-ins DIR]
//
// --stand-ins writes what the fake driver of tests runs in the place of the cubins (tests/gpu/fake_cuda/fake_cuda.cc).
#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fstream>

#include "CLI/CLI.hpp"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_replace.h"
#include "backends/codegen/context.h"
#include "backends/gpu/codegen.h"
#include "backends/gpu/emulate.h"
#include "backends/gpu/lower_kernels.h"
#include "backends/gpu/ptxas.h"
#include "backends/lower/kernels/plan_kernels.h"
#include "backends/measure/chosen_elements.h"
#include "backends/measure/gpu_bundle.h"
#include "backends/measure/kernel.h"
#include "backends/workers/run_program.h"
#include "lang/base/check.h"
#include "lang/program/layout.h"
#include "testing/compiled/hash_of_image.h"
#include "testing/gpu_schedules.h"
#include "testing/matmul.h"
#include "testing/softmax.h"

namespace kiln {
namespace {

constexpr uint64_t kSeed = 1;
constexpr int kRepeats = 5;
constexpr double kSeconds = 10, kFaultSeconds = 2;  // limits of a run
constexpr int64_t kBytes = int64_t{8} << 30;

struct Options {
  std::string folder, chip = "sm_90a", stand_ins;
  int64_t elements = int64_t{1} << 26;  // of the copy
};

void Must(const absl::Status& status) { KILN_CHECK(status.ok(), status.ToString()); }

// A thread copies four adjacent elements.
Schedule Copy(int64_t elements) {
  Builder b("copy");
  const Id X = b.Input("X", DType::kF32, {elements}), Y = b.Output("Y", DType::kF32, {elements});
  b.Compute("copy", {{"i", elements}}, {Y, {b.Iter(0)}}, b.Load(X, {b.Iter(0)}));
  Schedule s = Scheduled(b.Finish());
  const auto parts = s.Split(s.GetLoops(s.GetBlock("copy"))[0], {kAuto, 256, 4});
  s.Bind(parts[0], LoopKind::kBlockX);
  s.Bind(parts[1], LoopKind::kThreadX);
  s.Vectorize(parts[2]);
  return s;
}

// Binds the outer loop of each block to blocks and threads: several kernels, which share a workspace.
Schedule KernelForEachBlock(const Program& program, const std::vector<const char*>& blocks) {
  Schedule s = Scheduled(program);
  for (const char* block : blocks) {
    const auto parts = s.Split(s.GetLoops(s.GetBlock(block))[0], {kAuto, 4});
    s.Bind(parts[0], LoopKind::kBlockX);
    s.Bind(parts[1], LoopKind::kThreadX);
  }
  return s;
}

// Kernels that fail, for parameters x and y of 64 elements. NAME is the kernel.
constexpr char kFaultPtx[] = R"(.version 8.0
.target CHIP
.address_size 64
.visible .entry NAME(.param .u64 x, .param .u64 y) {
  .reg .b64 %rd<3>;
  .reg .b32 %r<3>;
  .reg .pred %p<2>;
  ld.param.u64 %rd1, [y];
BODY
  ret;
}
)";

struct Fault {
  const char* name;
  const char* wanted;  // status
  const char* ptx;
  const char* stand_in;  // in C
};

constexpr Fault kFaults[] = {
    {"illegal_address", "crashed", "  mov.u64 %rd2, 4096;\n  mov.u32 %r1, 1;\n  st.global.u32 [%rd2], %r1;",
     "return 86;"},
    {"misaligned_address", "crashed",
     "  add.u64 %rd2, %rd1, 2;\n  mov.u32 %r1, 1;\n  st.global.u32 [%rd2], %r1;", "return 86;"},
    {"endless_loop", "timed_out",
     "LOOP:\n  ld.volatile.global.u32 %r1, [%rd1];\n  setp.ne.u32 %p1, %r1, 12345;\n  @%p1 bra LOOP;",
     "for (volatile int i = 0;; ++i) {}"},
    {"wrong_bytes", "wrong_result", "  mov.u32 %r1, 1;\n  st.global.u32 [%rd1], %r1;",
     "((float*)a[1])[0] = 1;"},
    {"writes_beside", "guard_violated", "  mov.u32 %r1, 1;\n  st.global.u32 [%rd1+256], %r1;",
     "((float*)a[1])[64] = 1;"}};

class Day {
 public:
  Day(const Options& options, GpuBundle bundle) : options_(options), bundle_(std::move(bundle)) {}

  void Write() {
    std::vector<std::pair<std::string, RunRequest>> truths;
    const auto truth = [&](const std::string& name, const Program& original, const Schedule& schedule) {
      truths.emplace_back(name, Request(original, schedule, static_cast<int>(1) << 20));
      bundle_.Add(truths.back().second, Line("truth", name));
    };
    truth("tiled product with a pipeline", Matmul(32, 24, 16), SimtMatmul(Matmul(32, 24, 16)));
    truth("softmax over threads", Softmax(3, 64), SoftmaxOfRows(Softmax(3, 64)));
    truth("kernels that share a workspace", Softmax(5, 33),
          KernelForEachBlock(Softmax(5, 33), {"max", "exp", "sum", "div"}));
    truth("product with a thread for each row", Matmul(16, 8, 12),
          KernelForEachBlock(Matmul(16, 8, 12), {"matmul"}));
    const Schedule small = Copy(4096);
    truth("copy of vectors", small.program(), small);
    for (const Fault& fault : kFaults) AddFault(fault, truths[0].second);
    const Schedule copy = Copy(options_.elements);
    RunRequest rate = Request(copy.program(), copy, 64);
    rate.timing.runs = 20;
    bundle_.Add(rate, absl::StrFormat(R"({"item": "peak", "name": "copy", "bytes": %d})",
                                      2 * options_.elements * static_cast<int64_t>(sizeof(float))));
    for (int repeat = 0; repeat < kRepeats; ++repeat) {
      for (auto& [name, request] : truths) {
        request.timing.runs = 10;
        bundle_.Add(request,
                    absl::StrCat(R"({"item": "repeat", "name": ")", name, R"(", "turn": )", repeat, "}"));
      }
    }
    Must(bundle_.Close());
  }

 private:
  static std::string Line(const std::string& item, const std::string& name) {
    return absl::StrCat(R"({"item": ")", item, R"(", "name": ")", name, R"("})");
  }

  // The request for a program, with so many elements of each output that are wanted.
  RunRequest Request(const Program& original, const Schedule& schedule, int elements) {
    Must(schedule.status());
    const auto planned = plan::PlanKernels(schedule.program());
    Must(planned.status());
    auto lowered = LowerKernels(planned->program, planned->plan, Context());
    Must(lowered.status());
    Must(ToNvvm(*lowered->module, lowered->launches));
    const auto stages = ToPtx(*lowered->module, options_.chip);
    Must(stages.status());
    const auto cubin = AssemblePtx(stages->ptx, options_.chip);
    Must(cubin.status());
    if (!options_.stand_ins.empty()) {
      const auto emulated = EmulateKernels(*lowered->module, lowered->launches, "emulated");
      Must(emulated.status());
      std::ofstream(StandIn(cubin->bytes), std::ios::binary) << *emulated;
    }
    const std::vector<DataRange> ranges = RangesOf(original, kSeed);
    RunRequest request{
        .kernel = GpuKernelOf(original, cubin->bytes, lowered->launches, {}, TolerancesOf(original), ranges),
        .data_seed = kSeed,
        .timing = {.runs = 3},
        .limits = {.seconds = kSeconds, .bytes = kBytes}};
    int64_t outputs = 0;
    for (const Id id : original.parameters)
      if (original.buffers[id].role == Role::kOutput) outputs = std::max(outputs, ElementsOf(original, id));
    WantElements(EvaluateChosen(original, schedule.program(),
                                {.of_each_output = static_cast<int>(std::min<int64_t>(elements, outputs)),
                                 .data_seed = kSeed,
                                 .ranges = ranges}),
                 original, &request.kernel);
    return request;
  }

  void AddFault(const Fault& fault, const RunRequest& like) {
    constexpr int64_t kBuffer = 64 * sizeof(float);
    const auto cubin = AssemblePtx(
        absl::StrReplaceAll(kFaultPtx, {{"CHIP", options_.chip}, {"NAME", fault.name}, {"BODY", fault.ptx}}),
        options_.chip);
    Must(cubin.status());
    if (!options_.stand_ins.empty()) CompileStandIn(fault, cubin->bytes);
    const LaunchList list = {
        .parameters = {kBuffer, kBuffer},
        .launches = {{.kernel = fault.name,
                      .arguments = {{.value = 0, .bytes = kBuffer, .is_read = true},
                                    {.value = 1, .bytes = kBuffer, .is_written = true}}}}};
    RunRequest request{.kernel = {.shared_object = cubin->bytes,
                                  .params = {{.dtype = "f32", .elements = 64},
                                             {.dtype = "f32", .elements = 64, .role = KernelParam::kOutput}},
                                  .fields = {{kLaunchListField, Encode(list)}}},
                       .timing = {.runs = 0},
                       .limits = {.seconds = kFaultSeconds, .bytes = kBytes}};
    ChosenElements wanted;
    if (std::string(fault.wanted) == "wrong_result") wanted.elements.push_back({{}, 1, 0, Scalar{.f = 2}});
    Program of_output = Copy(64 * 16).program();
    WantElements(wanted, of_output, &request.kernel);
    bundle_.Add(request, absl::StrCat(R"({"item": "drill", "name": ")", fault.name, R"(", "wanted": ")",
                                      fault.wanted, R"("})"));
    bundle_.Add(like, Line("truth", absl::StrCat("after ", fault.name)));
  }

  void CompileStandIn(const Fault& fault, const std::string& cubin) {
    const std::string library = StandIn(cubin), source = library + ".c";
    std::ofstream(source)
        << "int " << fault.name << "_arguments(void) { return 2; }\nint " << fault.name
        << "_launch(void* const* a, const long* bytes, long blocks, long threads, long shared) {\n"
        << fault.stand_in << "\nreturn 0; }\n";
    KILN_CHECK(RunProgram({"cc", "-fPIC", "-shared", "-w", source, "-o", library}, library + ".log") == 0,
               source);
  }

  std::string StandIn(const std::string& cubin) const {
    return absl::StrCat(options_.stand_ins, "/", HashOfImage(ImageAt(cubin.data())), ".so");
  }

  const Options& options_;
  GpuBundle bundle_;
};

}  // namespace
}  // namespace kiln

int main(int count, char** arguments) {
  kiln::Options options;
  CLI::App app("Writes the kernels of a day with a GPU");
  app.add_option("-o,--output", options.folder)->required();
  app.add_option("--chip", options.chip)->capture_default_str();
  app.add_option("--elements", options.elements, "Of the copy, a multiple of 1024")->capture_default_str();
  app.add_option("--stand-ins", options.stand_ins, "Folder for what the fake driver runs");
  CLI11_PARSE(app, count, arguments);
  if (!options.stand_ins.empty()) std::filesystem::create_directories(options.stand_ins);
  auto bundle = kiln::GpuBundle::Create(options.folder);
  kiln::Must(bundle.status());
  kiln::Day(options, *std::move(bundle)).Write();
  return 0;
}
