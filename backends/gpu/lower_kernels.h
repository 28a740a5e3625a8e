// Lowers a loop plan with axes to kernels of a GPU.
//
//   auto lowered = LowerKernels(program, plan, Context());
//   ToNvvm(*lowered->module, lowered->launches);               // codegen.h
//
// The module has a function for each kernel, in func, scf, arith, math, memref, vector and nvvm. It needs no
// gpu.module: the passes of CPU kernels run on it as it is. Errors: those of kernel_plan.h. One MLIRContext,
// one thread.
#pragma once

#include "absl/status/statusor.h"
#include "backends/lower/passes/lower_options.h"
#include "backends/lower/plan/loop_plan.h"
#include "backends/runner/launch.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"

namespace kiln {

struct LoweredKernels {
  mlir::OwningOpRef<mlir::ModuleOp> module;
  LaunchList launches;
};

// Lowers all kernels of the plan to functions of a new module, and lists their launches. `program` is the decomposed
// program that was planned.
absl::StatusOr<LoweredKernels> LowerKernels(const Program& program, const plan::LoopPlan& plan,
                                            mlir::MLIRContext& context, const LowerOptions& options = {});

}  // namespace kiln
