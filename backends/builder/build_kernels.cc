#include "backends/builder/build_kernels.h"

#include <algorithm>
#include <optional>

#include "absl/strings/str_cat.h"
#include "backends/builder/identity.h"
#include "backends/builder/object_cache.h"
#include "backends/codegen/context.h"
#include "backends/gpu/codegen.h"
#include "backends/gpu/cuda_tools.h"
#include "backends/gpu/emulate.h"
#include "backends/gpu/kernel_plan.h"
#include "backends/gpu/lower_kernels.h"
#include "backends/lower/kernels/plan_kernels.h"
#include "backends/lower/text/loop_plan_parse.h"
#include "lang/target/gpu.h"
#include "lang/text/hash.h"
#include "lang/text/serialize.h"
#include "lang/text/text.h"

namespace kiln {
namespace {

std::string TextOf(mlir::ModuleOp module) {
  std::string text;
  llvm::raw_string_ostream(text) << module;
  return text;
}

// Returns the version of ptxas, which is part of the cache key; "none" if ptxas is not installed.
const std::string& AssemblerVersion() {
  static const auto* const version = new std::string(PtxasVersion().value_or("none"));
  return *version;
}

// Returns an error if a kernel takes more shared memory than a block of the GPU has: no driver loads it.
absl::Status CheckSharedMemory(const LaunchList& launches, const Gpu& gpu) {
  for (const Launch& launch : launches.launches) {
    if (launch.shared_bytes > gpu.shared_per_block)
      return absl::FailedPreconditionError(
          absl::StrCat("kernel ", launch.kernel, " takes ", launch.shared_bytes,
                       " bytes of shared memory; a block on ", gpu.sm, " has ", gpu.shared_per_block));
  }
  return absl::OkStatus();
}

class KernelJob {
 public:
  explicit KernelJob(const BuildRequest& request) : request_(request) {}

  absl::Status Run(BuildResult* result) {
    auto program = Deserialize(request_.program);
    if (!program.ok()) return program.status();
    program_ = *std::move(program);
    program_.name = request_.symbol;
    std::optional<ObjectCache> cache;
    if (!request_.object_folder.empty() && IsCacheable()) cache.emplace(request_.object_folder);
    if (cache && FindResult(*cache, Key(), result)) return absl::OkStatus();
    for (const BuildOutput output : request_.outputs) {
      auto made = Make(output);
      if (!made.ok()) return made.status();
      result->outputs.push_back(*std::move(made));
    }
    if (nvvm_) Describe(result);
    if (cache) KeepResult(*cache, Key(), result);
    return absl::OkStatus();
  }

 private:
  bool IsCacheable() const {
    return std::all_of(request_.outputs.begin(), request_.outputs.end(), [](BuildOutput output) {
      return output == BuildOutput::kCubin || output == BuildOutput::kEmulated;
    });
  }

  Hash128 Key() const {
    std::string key = absl::StrCat(BuilderIdentity(), "|", AssemblerVersion(), "|",
                                   ToString(HashOf(program_)), "|", request_.symbol, "|", request_.contract,
                                   "|", request_.policies.switched, "|", request_.triple, "|", request_.cpu);
    for (const BuildOutput output : request_.outputs) absl::StrAppend(&key, "|", static_cast<int>(output));
    return HashOf(key);
  }

  absl::StatusOr<std::string> Make(BuildOutput output) {
    if (output == BuildOutput::kProgram) return ToString(program_);
    if (absl::Status status = Plan(); !status.ok()) return status;
    if (output == BuildOutput::kPlan) return plan::Text(*planned_);
    if (output == BuildOutput::kMlir) {
      const auto lowered = Lowered();
      return lowered.ok() ? TextOf(*lowered->module) : absl::StatusOr<std::string>(lowered.status());
    }
    if (absl::Status status = Convert(); !status.ok()) return status;
    switch (output) {
      case BuildOutput::kNvvm:
        return TextOf(*nvvm_->module);
      case BuildOutput::kLlvm:
      case BuildOutput::kPtx:
        return Ptx(output);
      case BuildOutput::kCubin:
        return CheckedCubin();
      case BuildOutput::kSass: {
        const auto cubin = Assembled();
        return cubin.ok() ? Disassemble(**cubin) : absl::StatusOr<std::string>(cubin.status());
      }
      case BuildOutput::kEmulated: {
        const mlir::OwningOpRef<mlir::ModuleOp> copy(nvvm_->module->clone());
        return EmulateKernels(*copy, nvvm_->launches, request_.symbol);
      }
      default:
        return absl::InvalidArgumentError("of a GPU's program there is no such output");
    }
  }

  bool PrintsLlvm() const {
    return std::find(request_.outputs.begin(), request_.outputs.end(), BuildOutput::kLlvm) !=
           request_.outputs.end();
  }

  absl::StatusOr<LoweredKernels> Lowered() const {
    LowerOptions options;
    options.contract = request_.contract;
    options.policies = request_.policies;
    auto lowered = LowerKernels(planned_->program, planned_->plan, Context(), options);
    const Gpu* const gpu = FindGpu(request_.cpu);
    if (!lowered.ok() || gpu == nullptr) return lowered;
    if (absl::Status status = CheckSharedMemory(lowered->launches, *gpu); !status.ok()) return status;
    return lowered;
  }

  absl::Status Plan() {
    if (planned_) return absl::OkStatus();
    auto planned = plan::PlanKernels(program_);
    if (!planned.ok()) return planned.status();
    planned_ = *std::move(planned);
    return absl::OkStatus();
  }

  absl::Status Convert() {
    if (nvvm_) return absl::OkStatus();
    auto lowered = Lowered();
    if (!lowered.ok()) return lowered.status();
    if (absl::Status status = ToNvvm(*lowered->module, lowered->launches); !status.ok()) return status;
    nvvm_ = *std::move(lowered);
    return absl::OkStatus();
  }

  absl::StatusOr<std::string> Ptx(BuildOutput output) {
    if (!stages_) {
      auto stages = ToPtx(*nvvm_->module, request_.cpu, PrintsLlvm());
      if (!stages.ok()) return stages.status();
      stages_ = *std::move(stages);
    }
    return output == BuildOutput::kLlvm ? stages_->llvm : stages_->ptx;
  }

  absl::StatusOr<const std::string*> Assembled() {
    if (!cubin_) {
      const auto ptx = Ptx(BuildOutput::kPtx);
      if (!ptx.ok()) return ptx.status();
      auto cubin = AssemblePtx(*ptx, request_.cpu);
      if (!cubin.ok()) return cubin.status();
      cubin_ = *std::move(cubin);
    }
    return &cubin_->bytes;
  }

  absl::StatusOr<std::string> CheckedCubin() {
    const auto cubin = Assembled();
    if (!cubin.ok()) return cubin.status();
    if (absl::Status status = CheckKernels(cubin_->report); !status.ok()) return status;
    return **cubin;
  }

  void Describe(BuildResult* result) const {
    result->launches = nvvm_->launches;
    if (cubin_) {
      result->kernels = cubin_->report.kernels;
      result->warnings = cubin_->report.warnings;
    }
    result->has_prepare = std::any_of(result->launches.launches.begin(), result->launches.launches.end(),
                                      [](const Launch& launch) { return launch.prepare; });
    const std::vector<Id> parameters = ParametersOf(planned_->program, planned_->plan.indices);
    for (size_t i = program_.parameters.size(); i < parameters.size(); ++i) {
      const DType type = planned_->program.buffers[parameters[i]].dtype;
      result->prepared.push_back(
          {std::string(ToString(type)), result->launches.parameters[i] / SizeOf(type)});
    }
  }

  const BuildRequest& request_;
  Program program_;
  std::optional<plan::Planned> planned_;
  std::optional<LoweredKernels> nvvm_;
  std::optional<PtxStages> stages_;
  std::optional<Cubin> cubin_;
};

}  // namespace

absl::Status BuildKernels(const BuildRequest& request, BuildResult* result) {
  if (!request.module.empty()) return absl::InvalidArgumentError("modules are compiled for CPUs only");
  if (request.print_after_all) return absl::FailedPreconditionError("passes of GPU programs are not printed");
  return KernelJob(request).Run(result);
}

}  // namespace kiln
