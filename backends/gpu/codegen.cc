#include "backends/gpu/codegen.h"

#include <time.h>

#include <memory>
#include <set>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "backends/codegen/context.h"
#include "backends/codegen/convert_to_llvm.h"
#include "backends/codegen/diagnostics.h"
#include "backends/codegen/typed_arrays.h"
#include "backends/cpu/passes/expand_math.h"
#include "backends/cpu/passes/narrow_floats.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/IR/Module.h"
#include "llvm/MC/MCSubtargetInfo.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Target/TargetMachine.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Target/LLVMIR/Export.h"

namespace kiln {
namespace {

constexpr int64_t kAlignment = 16;

// Returns the CPU time that this thread has used, in milliseconds.
double Now() {
  timespec now;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) * 1e3 + static_cast<double>(now.tv_nsec) * 1e-6;
}

// Gives a function the attributes of a kernel, and those that its launch promises: the most threads of a block, the
// alignment of its arguments, and which of them do not overlap others.
void MarkKernel(mlir::LLVM::LLVMFuncOp kernel, const Launch& launch) {
  mlir::OpBuilder b(kernel.getContext());
  kernel->setAttr(mlir::NVVM::NVVMDialect::getKernelFuncAttrName(), b.getUnitAttr());
  kernel->setAttr(mlir::NVVM::NVVMDialect::getMaxntidAttrName(),
                  b.getDenseI32ArrayAttr({static_cast<int32_t>(launch.threads)}));
  // Asks for at least one block on a multiprocessor. Without this attribute, ptxas keeps room for a second block, and
  // spills at half of the registers.
  kernel->setAttr(mlir::NVVM::NVVMDialect::getMinctasmAttrName(), b.getI32IntegerAttr(1));
  kernel.setLinkage(mlir::LLVM::Linkage::External);
  for (unsigned i = 0; i < kernel.getNumArguments(); ++i) {
    // Marks an argument noalias unless the kernel both reads and writes it. If such an argument were noalias, LLVM
    // would assume that no other thread writes to it, and keep loaded values over barriers.
    if (!launch.arguments[i].is_read || !launch.arguments[i].is_written)
      kernel.setArgAttr(i, mlir::LLVM::LLVMDialect::getNoAliasAttrName(), b.getUnitAttr());
    kernel.setArgAttr(i, mlir::LLVM::LLVMDialect::getAlignAttrName(), b.getI64IntegerAttr(kAlignment));
  }
}

absl::StatusOr<std::unique_ptr<llvm::TargetMachine>> MachineOf(const std::string& chip) {
  [[maybe_unused]] static const bool once = [] {
    LLVMInitializeNVPTXTarget();
    LLVMInitializeNVPTXTargetInfo();
    LLVMInitializeNVPTXTargetMC();
    LLVMInitializeNVPTXAsmPrinter();
    return true;
  }();
  const llvm::Triple triple("nvptx64-nvidia-cuda");
  std::string error;
  const llvm::Target* target = llvm::TargetRegistry::lookupTarget(triple, error);
  if (target == nullptr) return absl::FailedPreconditionError(error);
  const std::unique_ptr<llvm::MCSubtargetInfo> known(target->createMCSubtargetInfo(triple, "", ""));
  if (known == nullptr || !known->isCPUStringValid(chip))
    return absl::FailedPreconditionError(absl::StrCat("LLVM has no GPU ", chip));
  llvm::TargetOptions as_marked;
  as_marked.AllowFPOpFusion = llvm::FPOpFusion::Standard;
  // Selects a version of PTX that supports the chip: 8.7 for sm_10x and sm_12x, 8.0 for all others.
  const bool is_new = absl::StartsWith(chip, "sm_10") || absl::StartsWith(chip, "sm_12");
  std::unique_ptr<llvm::TargetMachine> machine(
      target->createTargetMachine(triple, chip, is_new ? "+ptx87" : "+ptx80", as_marked, std::nullopt,
                                  std::nullopt, llvm::CodeGenOptLevel::Default));
  return machine;
}

void Optimize(llvm::Module& module, llvm::TargetMachine& machine) {
  llvm::LoopAnalysisManager loops;
  llvm::FunctionAnalysisManager functions;
  llvm::CGSCCAnalysisManager components;
  llvm::ModuleAnalysisManager modules;
  llvm::PipelineTuningOptions tuning;
  tuning.LoopVectorization = false;
  tuning.SLPVectorization = false;
  llvm::PassBuilder builder(&machine, tuning);
  builder.registerModuleAnalyses(modules);
  builder.registerCGSCCAnalyses(components);
  builder.registerFunctionAnalyses(functions);
  builder.registerLoopAnalyses(loops);
  builder.crossRegisterProxies(loops, functions, components, modules);
  builder.buildPerModuleDefaultPipeline(llvm::OptimizationLevel::O2).run(module, modules);
}

// Removes the alignment from masked loads of 3, 5, 6 or another number of lanes that is no power of two. LLVM 22 leaves
// an aligned load with a constant mask to the code generator, which ends the process for such numbers.
void ForgetAlignmentOfOddMaskedLoads(llvm::Module& module) {
  for (llvm::Function& function : module) {
    for (llvm::Instruction& instruction : llvm::instructions(function)) {
      auto* load = llvm::dyn_cast<llvm::IntrinsicInst>(&instruction);
      if (load == nullptr || load->getIntrinsicID() != llvm::Intrinsic::masked_load) continue;
      if (llvm::isPowerOf2_32(llvm::cast<llvm::FixedVectorType>(load->getType())->getNumElements())) continue;
      load->removeParamAttr(0, llvm::Attribute::Alignment);
    }
  }
}

// True for LLVM intrinsics that become calls of the C math library, which a GPU does not have.
bool IsInLibrary(llvm::Intrinsic::ID id) {
  static const std::set<llvm::Intrinsic::ID> ids = {
      llvm::Intrinsic::pow,  llvm::Intrinsic::powi, llvm::Intrinsic::sin,   llvm::Intrinsic::cos,
      llvm::Intrinsic::tan,  llvm::Intrinsic::asin, llvm::Intrinsic::acos,  llvm::Intrinsic::atan,
      llvm::Intrinsic::sinh, llvm::Intrinsic::cosh, llvm::Intrinsic::tanh,  llvm::Intrinsic::atan2,
      llvm::Intrinsic::exp,  llvm::Intrinsic::exp2, llvm::Intrinsic::exp10, llvm::Intrinsic::log,
      llvm::Intrinsic::log2, llvm::Intrinsic::log10};
  return ids.contains(id);
}

absl::Status CheckFunctions(llvm::Module& module) {
  for (llvm::Function& function : module) {
    for (llvm::Instruction& instruction : llvm::instructions(function)) {
      const auto* call = llvm::dyn_cast<llvm::CallInst>(&instruction);
      const llvm::Function* called = call == nullptr ? nullptr : call->getCalledFunction();
      if (called == nullptr || !called->isDeclaration()) continue;
      if (called->isIntrinsic() && !IsInLibrary(called->getIntrinsicID())) continue;
      return absl::FailedPreconditionError(absl::StrCat("kernel ", function.getName().str(), " calls ",
                                                        called->getName().str(),
                                                        ", which is not lowered to GPUs yet"));
    }
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status ToNvvm(mlir::ModuleOp module, const LaunchList& launches) {
  static const auto* const math = new MathExpander(Context());
  static const auto* const converter = new LlvmConverter(Context());
  llvm::LLVMContext unused;
  Diagnostics diagnostics(*module.getContext(), unused);
  if (mlir::failed(mlir::verify(module)))
    return absl::InvalidArgumentError(diagnostics.After("the module does not verify"));
  ExpandNarrowFloats(module, /*half=*/true);
  if (mlir::failed(math->Run(module, /*polynomials=*/true, /*fma=*/true, /*tables=*/false)))
    return absl::InternalError(diagnostics.After("cannot expand math"));
  const bool converted = mlir::succeeded(converter->Run(module, [](const char*) {}));
  if (absl::Status status = OnlyLlvm(module, "nvvm"); !status.ok() || !converted)
    return absl::InvalidArgumentError(
        diagnostics.After(converted ? status.message() : "conversion to LLVM failed"));
  std::set<std::string> names;
  for (const Launch& launch : launches.launches) {
    auto kernel = module.lookupSymbol<mlir::LLVM::LLVMFuncOp>(launch.kernel);
    if (!kernel)
      return absl::InvalidArgumentError(absl::StrCat("the module does not define kernel ", launch.kernel));
    MarkKernel(kernel, launch);
    names.insert(launch.kernel);
  }
  for (auto function : module.getOps<mlir::LLVM::LLVMFuncOp>()) {
    if (!function.isExternal() && !names.contains(function.getSymName().str()))
      function.setLinkage(mlir::LLVM::Linkage::Internal);
  }
  return absl::OkStatus();
}

absl::StatusOr<PtxStages> ToPtx(mlir::ModuleOp module, const std::string& chip, bool prints_llvm) {
  PtxStages stages;
  double start = Now();
  const auto lap = [&](double& ms) {
    const double now = Now();
    ms = now - std::exchange(start, now);
  };
  auto machine = MachineOf(chip);
  if (!machine.ok()) return machine.status();
  llvm::LLVMContext context;
  Diagnostics diagnostics(*module.getContext(), context);
  const std::unique_ptr<llvm::Module> lowered =
      mlir::translateModuleToLLVMIR(module, context, "kiln", /*disableVerification=*/true);
  if (lowered == nullptr) return absl::InternalError(diagnostics.After("cannot translate to LLVM IR"));
  lowered->setTargetTriple((*machine)->getTargetTriple());
  lowered->setDataLayout((*machine)->createDataLayout());
  for (llvm::Function& function : *lowered)
    if (!function.isDeclaration()) GiveArraysTheirType(function);
  lap(stages.translate);
  Optimize(*lowered, **machine);
  ForgetAlignmentOfOddMaskedLoads(*lowered);
  if (absl::Status status = CheckFunctions(*lowered); !status.ok()) return status;
  lap(stages.optimize);
  if (prints_llvm) stages.llvm = Printed([&](llvm::raw_ostream& os) { lowered->print(os, nullptr); });
  llvm::SmallString<0> text;
  llvm::raw_svector_ostream stream(text);
  llvm::legacy::PassManager passes;
  if ((*machine)->addPassesToEmitFile(passes, stream, nullptr, llvm::CodeGenFileType::AssemblyFile,
                                      /*DisableVerify=*/true))
    return absl::InternalError("LLVM emits no PTX");
  passes.run(*lowered);
  if (!diagnostics.empty()) return absl::InternalError(diagnostics.After("LLVM"));
  stages.ptx = text.str().str();
  lap(stages.emit);
  return stages;
}

}  // namespace kiln
