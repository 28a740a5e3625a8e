#include "backends/cpu/targets.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "backends/cpu/cores.h"
#include "lang/base/unknown_name.h"
#include "lang/target/gpu_target.h"

namespace kiln {
namespace {

constexpr char kX86[] = "x86_64-pc-linux-gnu", kArm[] = "aarch64-unknown-linux-gnu";

struct Row {
  const char *name, *triple, *cpu;
  int64_t l1, l2, l3;  // KiB
};

constexpr Row kRows[] = {
    {"x86-64-v2", kX86, "x86-64-v2", 32, 256, 8192},              // SSE4.2
    {"x86-64-v3", kX86, "x86-64-v3", 32, 256, 8192},              // AVX2
    {"x86-64-v4", kX86, "x86-64-v4", 32, 1024, 16384},            // AVX-512
    {"icelake-server", kX86, "icelake-server", 48, 1280, 24576},  // with VNNI
    {"sapphirerapids", kX86, "sapphirerapids", 48, 2048, 30720},  // with bf16 and AMX
    {"graniterapids", kX86, "graniterapids", 48, 2048, 147456},   // with f16 in AMX
    {"diamondrapids", kX86, "diamondrapids", 48, 2048, 147456},   // with AVX10.2; caches: as above
    {"znver3", kX86, "znver3", 32, 512, 32768},                   // AVX2
    {"znver4", kX86, "znver4", 32, 1024, 32768},                  // AVX-512
    {"znver5", kX86, "znver5", 48, 1024, 32768},                  // AVX-512
    {"aarch64", kArm, "generic", 32, 512, 2048},                  // every 64-bit Arm
    {"cortex-a76", kArm, "cortex-a76", 64, 512, 4096},
    {"neoverse-n1", kArm, "neoverse-n1", 64, 1024, 32768},
};

Target TargetOf(const MachineTarget& machine) {
  Target target;
  target.triple = machine.triple;
  target.cpu = machine.cpu;
  target.features = machine.features;
  target.vector_bytes = machine.vector_bytes;
  target.vector_registers = machine.vector_registers;
  target.fma = machine.fma;
  if (machine.l1_bytes > 0) target.l1_bytes = machine.l1_bytes;
  if (machine.l2_bytes > 0) target.l2_bytes = machine.l2_bytes;
  if (machine.l3_bytes > 0) target.l3_bytes = machine.l3_bytes;
  target.costs = machine.costs;
  target.fingerprint = machine.fingerprint;
  return target;
}

}  // namespace

Target CpuTarget(int threads) {
  Target target = TargetOf(Host());
  const int usable = static_cast<int>(UsableCores().size());
  target.cores = threads <= 0 ? usable : std::min(threads, usable);
  return target;
}

std::vector<std::string> TargetNames() {
  std::vector<std::string> names{"host"};
  for (const Row& row : kRows) names.emplace_back(row.name);
  for (const Gpu& gpu : Gpus()) names.emplace_back(gpu.name);
  return names;
}

absl::StatusOr<Target> NamedTarget(const std::string& name, int threads) {
  if (name == "host") return CpuTarget(threads);
  if (const Gpu* const gpu = FindGpu(name); gpu != nullptr) return GpuTarget(*gpu);
  const auto* row =
      std::find_if(std::begin(kRows), std::end(kRows), [&](const Row& r) { return name == r.name; });
  if (row == std::end(kRows)) {
    return absl::InvalidArgumentError(UnknownName("target", name, TargetNames()));
  }
  absl::StatusOr<MachineTarget> machine = Named(row->triple, row->cpu);
  if (!machine.ok()) return machine.status();
  machine->l1_bytes = row->l1 << 10;
  machine->l2_bytes = row->l2 << 10;
  machine->l3_bytes = row->l3 << 10;
  Target target = TargetOf(*machine);
  target.cores = std::max(1, threads);
  return target;
}

absl::Status CheckBuildsModels(const Target& target) {
  if (target.gpu == nullptr) return absl::OkStatus();
  return absl::UnimplementedError(absl::StrCat("whole models are not built for GPUs such as ",
                                               target.gpu->name, " yet; `kiln tune --target ",
                                               target.gpu->name, " -o DIR` exports each task"));
}

bool IsHost(const Target& target) {
  return !target.fingerprint.empty() && target.fingerprint == Host().fingerprint;
}

}  // namespace kiln
