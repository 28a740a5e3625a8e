// Emits a GPU kernel of a loop plan as a function in func, scf, arith, memref, vector and nvvm.
//
//   for (const Kernel& kernel : kernels) KernelEmitter(program, indices, options, module, kernel).EmitKernel();
//
// Each thread runs the function. Of a loop on an axis, it runs the iteration that has the number of the thread, or of
// its block, on this axis. A leaf that no loop on an axis encloses runs only in threads and blocks with number 0 on
// this axis. Launches number blocks and threads in one dimension; the code computes the number on each axis by division
// and remainder. Private to backends/gpu.
#pragma once

#include <optional>
#include <vector>

#include "backends/gpu/kernel_plan.h"
#include "backends/lower/emit/emit.h"

namespace kiln {

class KernelEmitter : private Emitter {
 public:
  // Makes an emitter of one kernel, which adds a function to `module`. `program` is the decomposed program that was
  // planned. Keeps references to all arguments.
  KernelEmitter(const Program& program, const IndexPlan& plan, const LowerOptions& options,
                mlir::ModuleOp module, const Kernel& kernel);
  void EmitKernel();

 private:
  using Value = mlir::Value;

  void EmitAxis(const plan::Loop& loop, const plan::Nodes& body) override;
  void EmitSync(const plan::Sync& sync) override;
  void EmitCommit() override;
  void EmitLeaf(const plan::Leaf& leaf) override;
  void EmitNumbers();
  Value AtZero(const std::vector<size_t>& axes);  // whether all numbers on these axes are 0; null: always
  Value Runs();                                   // whether this thread runs leaves here; null: yes

  const Kernel& kernel_;
  std::vector<Value> numbers_;  // on each axis, of type index; null if there is only 0
  Value thread_;                // of the block, i32; null if there is only one
  std::vector<bool> bound_;     // axes whose loops are around
  std::vector<Value> active_;   // conditions of the loops around, which leaves test
};

}  // namespace kiln
