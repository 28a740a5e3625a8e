// Emits a function for an entry of a loop plan, as func, scf, arith, math, vector and 1-D memref.
//
//   for (const plan::Entry& entry : loops.entries)
//     Emitter(program, loops.indices, options, module).EmitFunction(entry, parameters);
//
// The plan decides everything: loops that run become scf.for, unrolled loops are expanded, a vectorized loop
// becomes vector lanes, tests become scf.if. Later passes vectorize nothing. The Emitter walks the nodes. The
// other files of this folder emit the parts of a node; classes there own their state:
//
//   emit_code        CodeBuilder: the place, hoisted values, constants
//   emit_index       IndexEmitter: the values of indices
//   emit_buffers     BufferEmitter: the memory of buffers
//   shared_loads     SharedLoads: loaded values that are still valid
//   emit_access      MemoryEmitter: loads and stores (also emit_strided)
//   emit_transposed  DelayedStores: stores that a flush transposes
//   emit_expr        InstanceEmitter: an instance of a block
//   emit_conditions, emit_op, emit_dot, emit_tile: functions for tests, operations, instructions
//
// Private to lower.cc, and to backends/gpu, which derives the emitter of a kernel.
#pragma once

#include <optional>
#include <vector>

#include "absl/types/span.h"
#include "backends/lower/emit/emit_access.h"

namespace kiln {

class Emitter {
 public:
  // Makes an emitter that adds functions to `module`. `program` is the decomposed program that was planned. Keeps
  // references to program, plan and options.
  Emitter(const Program& program, const IndexPlan& plan, const LowerOptions& options, mlir::ModuleOp module);
  virtual ~Emitter() = default;

  // Emits the function of an entry point. Its arguments are the buffers `parameters`; it returns the program's status.
  void EmitFunction(const plan::Entry& entry, const std::vector<Id>& parameters);

 protected:
  // EmitAxis, EmitSync and EmitCommit emit what only GPUs have: a loop on an axis, a barrier, and the end of a group of
  // asynchronous copies. This class, which is for CPUs, ends the process there. EmitLeaf emits an instance of a block,
  // in an if with the conditions of the leaf. The emitter of GPU kernels overrides these functions.
  virtual void EmitAxis(const plan::Loop& loop, const plan::Nodes& body);
  virtual void EmitSync(const plan::Sync& sync);
  virtual void EmitCommit();
  virtual void EmitLeaf(const plan::Leaf& leaf);

  void Emit(const plan::Nodes& nodes);
  void EmitNode(const plan::Node& node);
  // Emits a test whether any vector lane may pass all conditions of a leaf, which computes an instance of a block.
  // Returns nullopt if one of them never holds, and null if no test is needed.
  std::optional<mlir::Value> TestOfLeaf(const plan::Leaf& leaf);
  mlir::Value MaskOfLeaf(const plan::Leaf& leaf);  // for the lanes; null: all lanes
  // Emits an if statement: `holds` emits the code of its first branch, `otherwise` (optional) that of the second. If
  // the condition is null, it always holds: emits only the code of `holds`.
  void If(mlir::Value condition, llvm::function_ref<void()> holds,
          llvm::function_ref<void()> otherwise = nullptr);

  CodeBuilder code_;
  IndexEmitter indices_;
  BufferEmitter buffers_;
  MemoryEmitter memory_;

 private:
  void EmitLoop(const plan::Loop& loop, const plan::Nodes& body);
  void EmitFor(const plan::Loop& loop, const plan::Nodes& body);
  void EmitBranch(const plan::Branch& branch, const plan::Node& node);
  void EmitSwitch(const plan::Switch& by, const plan::Node& node);
  void EmitFirst(const plan::First& first, const plan::Node& node);
  void EmitPrefetch(const plan::Prefetch& prefetch, absl::Span<const plan::Loop> over);
  void EmitCall(const plan::Call& call);
};

}  // namespace kiln
