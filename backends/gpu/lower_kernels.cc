#include "backends/gpu/lower_kernels.h"

#include "backends/gpu/emit_kernel.h"
#include "backends/gpu/kernel_plan.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"

namespace kiln {

absl::StatusOr<LoweredKernels> LowerKernels(const Program& program, const plan::LoopPlan& plan,
                                            mlir::MLIRContext& context, const LowerOptions& options) {
  const auto kernels = Kernels(program, plan);
  if (!kernels.ok()) return kernels.status();
  context.getOrLoadDialect<mlir::NVVM::NVVMDialect>();
  LoweredKernels lowered{mlir::ModuleOp::create(mlir::UnknownLoc::get(&context)),
                         LaunchesOf(program, plan.indices, *kernels)};
  for (const Kernel& kernel : *kernels)
    KernelEmitter(program, plan.indices, options, *lowered.module, kernel).EmitKernel();
  return lowered;
}

}  // namespace kiln
