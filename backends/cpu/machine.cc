#include "backends/cpu/machine.h"

#include <hwloc.h>

#include <cstdlib>
#include <memory>
#include <mutex>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "lang/intrinsics/cpu_instructions.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/MC/MCSubtargetInfo.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/TargetParser/Host.h"
#include "llvm/TargetParser/SubtargetFeature.h"
#include "llvm/TargetParser/Triple.h"

namespace kiln {
namespace {

void InitializeTargets() {
  static std::once_flag once;
  std::call_once(once, [] {
    LLVMInitializeX86TargetInfo();
    LLVMInitializeX86Target();
    LLVMInitializeX86TargetMC();
    LLVMInitializeX86AsmPrinter();
    LLVMInitializeX86AsmParser();
    LLVMInitializeAArch64TargetInfo();
    LLVMInitializeAArch64Target();
    LLVMInitializeAArch64TargetMC();
    LLVMInitializeAArch64AsmPrinter();
  });
}

// Adds "+feature" to the list if the CPU has the feature but the list does not name it, because CpuInstruction::IsIn
// searches the list.
void AddIfThere(const llvm::MCSubtargetInfo& info, const std::string& feature, std::string* features) {
  const std::string with = absl::StrCat("+", feature);
  if (info.checkFeatures(with) && !absl::StrContains(absl::StrCat(*features, ","), with + ","))
    absl::StrAppend(features, features->empty() ? "" : ",", with);
}

absl::StatusOr<MachineTarget> Describe(const std::string& triple, const std::string& cpu,
                                       const std::string& features) {
  InitializeTargets();
  MachineTarget machine;
  machine.triple = triple;
  machine.cpu = cpu;
  machine.features = features;
  const llvm::Triple parsed(triple);
  std::string error;
  const llvm::Target* target = llvm::TargetRegistry::lookupTarget(parsed, error);
  if (target == nullptr)
    return absl::InvalidArgumentError(absl::StrCat("unknown target ", triple, ": ", error));
  std::unique_ptr<llvm::MCSubtargetInfo> info(target->createMCSubtargetInfo(parsed, "", ""));
  if (info == nullptr || (!cpu.empty() && !info->isCPUStringValid(cpu))) {
    return absl::InvalidArgumentError(absl::StrCat("LLVM knows no CPU \"", cpu, "\" for ", triple));
  }
  info.reset(target->createMCSubtargetInfo(parsed, cpu, features));
  if (parsed.isX86()) {
    const bool avx512 = info->checkFeatures("+avx512f");
    machine.vector_bytes = avx512 ? 64 : info->checkFeatures("+avx2") ? 32 : 16;
    machine.vector_registers = avx512 ? 32 : 16;
    machine.fma = info->checkFeatures("+fma");
    machine.half = info->checkFeatures("+f16c");
  } else {
    machine.vector_registers = 32;
    machine.fma = true;
    machine.half = true;
  }
  // Replaces "+" by "-" for each feature whose requirements are missing, such as AVX512-VNNI without AVX-512.
  std::vector<std::string> all = absl::StrSplit(machine.features, ',', absl::SkipEmpty());
  for (std::string& feature : all)
    if (feature[0] == '+' && !info->checkFeatures(feature)) feature[0] = '-';
  machine.features = absl::StrJoin(all, ",");
  for (const std::string& feature :
       CpuInstructionFeatures(llvm::Triple::getArchTypePrefix(parsed.getArch()).str()))
    AddIfThere(*info, feature, &machine.features);
  return machine;
}

const char* Info(hwloc_obj_t object, const char* name) {
  const char* value = object == nullptr ? nullptr : hwloc_obj_get_info_by_name(object, name);
  return value == nullptr ? "" : value;
}

int64_t CacheBytes(hwloc_topology_t topology, hwloc_obj_type_t level) {
  const hwloc_obj_t cache = hwloc_get_obj_by_type(topology, level, 0);
  return cache == nullptr ? 0 : static_cast<int64_t>(cache->attr->cache.size);
}

uint64_t Fnv(const std::string& text) {
  uint64_t hash = 0xcbf29ce484222325u;
  for (const unsigned char c : text) hash = (hash ^ c) * 0x100000001b3u;
  return hash;
}

void DescribeTopology(MachineTarget& machine) {
  hwloc_topology_t topology;
  if (hwloc_topology_init(&topology) != 0) return;
  if (hwloc_topology_load(topology) == 0) {
    machine.cores = hwloc_get_nbobjs_by_type(topology, HWLOC_OBJ_CORE);
    if (machine.cores <= 0) machine.cores = hwloc_get_nbobjs_by_type(topology, HWLOC_OBJ_PU);
    machine.l1_bytes = CacheBytes(topology, HWLOC_OBJ_L1CACHE);
    machine.l2_bytes = CacheBytes(topology, HWLOC_OBJ_L2CACHE);
    machine.l3_bytes = CacheBytes(topology, HWLOC_OBJ_L3CACHE);
    const hwloc_obj_t package = hwloc_get_obj_by_type(topology, HWLOC_OBJ_PACKAGE, 0);
    machine.fingerprint =
        absl::StrCat(Info(package, "CPUVendor"), " ", Info(package, "CPUModel"), "; ", machine.cpu, "; ",
                     Info(package, "CPUFamilyNumber"), "/", Info(package, "CPUModelNumber"), "/",
                     Info(package, "CPUStepping"), "; features ", absl::Hex(Fnv(machine.features)), "; ",
                     machine.cores, " cores");
  }
  hwloc_topology_destroy(topology);
}

}  // namespace

const MachineTarget& Host() {
  static const MachineTarget* const host = [] {
    llvm::SubtargetFeatures features;
    for (const auto& feature : llvm::sys::getHostCPUFeatures())
      features.AddFeature(feature.first(), feature.second);
    const char* without = std::getenv("KILN_WITHOUT");
    for (const absl::string_view feature : absl::StrSplit(without ? without : "", ',', absl::SkipEmpty()))
      features.AddFeature(std::string(feature), false);
    auto machine =
        Describe(llvm::sys::getProcessTriple(), llvm::sys::getHostCPUName().str(), features.getString());
    auto* result = new MachineTarget(machine.ok() ? *machine : MachineTarget{});
    DescribeTopology(*result);
    return result;
  }();
  return *host;
}

absl::StatusOr<MachineTarget> Named(const std::string& triple, const std::string& cpu,
                                    const std::string& features) {
  return Describe(triple, cpu, features);
}

}  // namespace kiln
