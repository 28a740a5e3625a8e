// Writes the fixed part of the bundles of scripts/gpu-day: kernels with known results, how many of their blocks an SM
// should hold, faults from which the runner must recover, kernels that measure rates, and kernels that are timed in
// several turns of one day.
//
//   kiln_gpu_day -o FOLDER [--target h100] [--elements N] [--stand-ins DIR] [--sanitized FOLDER]
//
// --elements is the size of the copy whose rate is measured.
// --sanitized writes a second bundle for compute-sanitizer: the kernels with known results, once each.
// --stand-ins writes what the fake driver of tests runs instead of the cubins (tests/gpu/fake_cuda/fake_cuda.cc).
#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <optional>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "backends/codegen/context.h"
#include "backends/gpu/codegen.h"
#include "backends/gpu/driver/wanted_elements.h"
#include "backends/gpu/emulate.h"
#include "backends/gpu/lower_kernels.h"
#include "backends/gpu/ptxas.h"
#include "backends/lower/kernels/plan_kernels.h"
#include "backends/measure/chosen_elements.h"
#include "backends/measure/gpu_bundle.h"
#include "backends/measure/kernel.h"
#include "backends/workers/run_program.h"
#include "bench/gpu_day/ptx.h"
#include "bench/gpu_day/truths.h"
#include "bench/support/command_line.h"
#include "lang/base/check.h"
#include "lang/program/layout.h"
#include "search/features/gpu_roofline.h"
#include "testing/compiled/hash_of_image.h"

namespace kiln {
namespace {

constexpr uint64_t kSeed = 1;
constexpr int kTurns = 5;                                        // in which kernels are timed again
constexpr size_t kTimedAgain = 6;                                // kernels
constexpr char kRepeated[] = "12", kRepeatedInEmulator[] = "3";  // runs of a kernel with known results
constexpr double kSeconds = 30, kFaultSeconds = 2;               // limits of a run
constexpr int64_t kBytes = int64_t{8} << 30;

struct Options {
  std::string folder, sanitized, target = "h100", stand_ins;
  int64_t elements = int64_t{1} << 26;  // of the copy
};

void Must(const absl::Status& status) { KILN_CHECK(status.ok(), status.ToString()); }

std::string Line(const std::string& item, const std::string& name) {
  return absl::StrCat(R"({"item": ")", item, R"(", "name": ")", name, R"("})");
}

class Day {
 public:
  Day(const Options& options, const Gpu& gpu, GpuBundle bundle)
      : options_(options), gpu_(gpu), bundle_(std::move(bundle)) {}

  void Write() {
    for (const KnownKernel& truth : KnownKernels()) AddTruth(truth);
    WriteSanitized();
    for (const auto& [name, request] : occupancy_) bundle_.Add(request, Line("occupancy", name));
    for (const PtxKernel& fault : kFaults) AddFault(fault);
    AddRates();
    for (int turn = 0; turn < kTurns; ++turn) {
      for (size_t i = 0; i < kTimedAgain; ++i) {
        RunRequest request = truths_[i * truths_.size() / kTimedAgain].second;
        request.timing.runs = 10;
        bundle_.Add(request, absl::StrCat(R"({"item": "repeat", "name": ")",
                                          truths_[i * truths_.size() / kTimedAgain].first, R"(", "turn": )",
                                          turn, "}"));
      }
    }
    Must(bundle_.Close());
  }

 private:
  void AddTruth(const KnownKernel& truth) {
    RunRequest request = Request(truth, 1 << 20);
    RunRequest occupancy = request;
    occupancy.kernel.fields = {request.kernel.fields[0],
                               {kBlocksPerSmField, absl::StrJoin(blocks_per_sm_, " ")}};
    occupancy.timing.runs = 0;
    occupancy_.emplace_back(truth.name, std::move(occupancy));
    truths_.emplace_back(truth.name, request);
    request.kernel.fields.push_back(
        {kRepeatedRunsField, options_.stand_ins.empty() ? kRepeated : kRepeatedInEmulator});
    bundle_.Add(request, Line("truth", truth.name));
  }

  void WriteSanitized() {
    if (options_.sanitized.empty()) return;
    auto bundle = GpuBundle::Create(options_.sanitized);
    Must(bundle.status());
    for (auto [name, request] : truths_) {
      request.timing.runs = 0;
      bundle->Add(request, Line("truth", name));
    }
    Must(bundle->Close());
  }

  // Compiles the kernels of a scheduled program. Returns a request that runs them and compares at most `elements`
  // elements of each output, and sets blocks_per_sm_ to how many blocks of each kernel an SM should hold.
  RunRequest Request(const KnownKernel& truth, int elements) {
    Must(truth.schedule.status());
    const Program& scheduled = truth.schedule.program();
    const auto planned = plan::PlanKernels(scheduled);
    Must(planned.status());
    auto lowered = LowerKernels(planned->program, planned->plan, Context());
    Must(lowered.status());
    Must(ToNvvm(*lowered->module, lowered->launches));
    const auto stages = ToPtx(*lowered->module, std::string(gpu_.sm));
    Must(stages.status());
    const auto cubin = AssemblePtx(stages->ptx, std::string(gpu_.sm));
    Must(cubin.status());
    if (!options_.stand_ins.empty()) {
      const auto emulated = EmulateKernels(*lowered->module, lowered->launches, "emulated");
      Must(emulated.status());
      std::ofstream(StandIn(cubin->bytes), std::ios::binary) << *emulated;
    }
    NoteOccupancy(lowered->launches, cubin->report);
    const std::vector<DataRange> ranges = RangesOf(truth.original, kSeed);
    RunRequest request{.kernel = GpuKernelOf(truth.original, cubin->bytes, lowered->launches, {},
                                             TolerancesOf(truth.original), ranges),
                       .data_seed = kSeed,
                       .timing = {.runs = 3},
                       .limits = {.seconds = kSeconds, .bytes = kBytes}};
    int64_t outputs = 0;
    for (const Id id : truth.original.parameters)
      if (truth.original.buffers[id].role == Role::kOutput)
        outputs = std::max(outputs, ElementsOf(truth.original, id));
    WantElements(EvaluateChosen(truth.original, scheduled,
                                {.of_each_output = static_cast<int>(std::min<int64_t>(elements, outputs)),
                                 .data_seed = kSeed,
                                 .ranges = ranges}),
                 truth.original, &request.kernel);
    return request;
  }

  void NoteOccupancy(const LaunchList& list, const PtxasReport& report) {
    blocks_per_sm_.clear();
    for (const Launch& launch : list.launches) {
      const auto facts = std::find_if(report.kernels.begin(), report.kernels.end(),
                                      [&](const KernelFacts& k) { return k.name == launch.kernel; });
      KILN_CHECK(facts != report.kernels.end(), launch.kernel);
      blocks_per_sm_.push_back(
          ThreadBlocksOfSm(gpu_, launch.threads, facts->registers, facts->shared + launch.shared_bytes));
    }
  }

  RunRequest Request(const PtxKernel& kernel) {
    const auto cubin = AssemblePtx(TextOf(kernel, std::string(gpu_.sm)), std::string(gpu_.sm));
    Must(cubin.status());
    if (!options_.stand_ins.empty()) CompileStandIn(kernel, cubin->bytes);
    const int64_t x = 64 * sizeof(float), y = kernel.outputs * static_cast<int64_t>(sizeof(float));
    const LaunchList list = {.parameters = {x, y},
                             .launches = {{.kernel = kernel.name,
                                           .blocks = kernel.blocks,
                                           .threads = kernel.threads,
                                           .arguments = {{.value = 0, .bytes = x, .is_read = true},
                                                         {.value = 1, .bytes = y, .is_written = true}}}}};
    return {.kernel = {.shared_object = cubin->bytes,
                       .params = {{.dtype = "f32", .elements = 64},
                                  {.dtype = "f32", .elements = kernel.outputs, .role = KernelParam::kOutput}},
                       .fields = {{kLaunchListField, Encode(list)}}},
            .timing = {.runs = 0},
            .limits = {.seconds = kFaultSeconds, .bytes = kBytes}};
  }

  // Adds a kernel with a fault, and one with known results that must run after it as before.
  void AddFault(const PtxKernel& fault) {
    RunRequest request = Request(fault);
    if (fault.name == "differs_each_time") {
      request.kernel.fields.push_back({kRepeatedRunsField, "3"});
    } else if (fault.wanted == "wrong_result") {
      request.kernel.fields.push_back(
          {kWantedElementsField, Encode(std::vector<WantedElement>{{.param = 1, .index = 0, .value = 2}})});
    }
    bundle_.Add(request, absl::StrCat(R"({"item": "drill", "name": ")", fault.name, R"(", "wanted": ")",
                                      fault.wanted, R"("})"));
    bundle_.Add(truths_[0].second, Line("truth", absl::StrCat("after ", fault.name)));
  }

  void AddRates() {
    const Schedule copy = CopyOfVectors(options_.elements);
    RunRequest rate = Request(KnownKernel{"copy", copy.program(), copy}, 64);
    rate.timing.runs = 20;
    bundle_.Add(rate, absl::StrFormat(R"({"item": "peak", "name": "copy", "bytes": %d})",
                                      2 * options_.elements * static_cast<int64_t>(sizeof(float))));
    rate = Request(FmaKernel::Make(!options_.stand_ins.empty()));
    rate.timing.runs = 20;
    bundle_.Add(rate,
                absl::StrFormat(R"({"item": "peak", "name": "ffma", "flops": %.0f})", FmaKernel::kFlops));
    rate = Request(EmptyKernel());
    rate.timing.runs = 20;
    bundle_.Add(rate, R"({"item": "peak", "name": "launch"})");
  }

  void CompileStandIn(const PtxKernel& kernel, const std::string& cubin) {
    const std::string library = StandIn(cubin), source = library + ".c";
    std::ofstream(source)
        << "int " << kernel.name << "_arguments(void) { return 2; }\nint " << kernel.name
        << "_launch(void* const* a, const long* bytes, long blocks, long threads, long shared) {\n"
        << kernel.stand_in << "\nreturn 0; }\n";
    KILN_CHECK(RunProgram({"cc", "-fPIC", "-shared", "-w", source, "-o", library}, library + ".log") == 0,
               source);
  }

  std::string StandIn(const std::string& cubin) const {
    return absl::StrCat(options_.stand_ins, "/", HashOfImage(ImageAt(cubin.data())), ".so");
  }

  const Options& options_;
  const Gpu& gpu_;
  GpuBundle bundle_;
  std::vector<std::pair<std::string, RunRequest>> truths_, occupancy_;
  std::vector<int64_t> blocks_per_sm_;  // of the launches of the last request
};

}  // namespace
}  // namespace kiln

int main(int count, char** arguments) {
  kiln::Options options;
  kiln::CommandLine line("kiln_gpu_day", "Writes the kernels of a day with a GPU");
  line.Add("-o,--output", &options.folder, "", {.required = true});
  line.Add("--sanitized", &options.sanitized, "Folder of the bundle for compute-sanitizer");
  line.Add("--target", &options.target, "The GPU");
  line.Add("--elements", &options.elements, "Of the copy, a multiple of 1024");
  line.Add("--stand-ins", &options.stand_ins, "Folder for what the fake driver runs");
  if (const auto exit_code = line.Parse(count, arguments)) return *exit_code;
  const kiln::Gpu* const gpu = kiln::FindGpu(options.target);
  KILN_CHECK(gpu != nullptr, options.target + " is no GPU");
  if (!options.stand_ins.empty()) std::filesystem::create_directories(options.stand_ins);
  auto bundle = kiln::GpuBundle::Create(options.folder);
  kiln::Must(bundle.status());
  kiln::Day(options, *gpu, *std::move(bundle)).Write();
  return 0;
}
