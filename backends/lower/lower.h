// Lowers a Program to MLIR:
//
//   passes/plan_loops.h    makes all decisions of lowering, as a loop plan      Program -> Program, LoopPlan
//   emit/                  func, scf, arith, math, vector and 1-D memref        Program, LoopPlan -> module
//   rematerialize-loads    loads again in loops that lack registers for values  module
//
// The module contains an entry point NAME with one memref<Nxtype> for each of Program::parameters, in order,
// row-major or in the buffer's layout. An i1 takes a byte, and an index is an i64. NAME returns an i32: the
// program's status, or 0 if it has none. Loop nests that are marked `prepare` go to a second entry point
// NAME_prepare. Temporaries that they write and the other nests read become further parameters of both entry
// points, after the program's own, in the order of their ids.
//
// A parallel loop becomes an scf.for with an attribute. A buffer that is private to each of its iterations is
// allocated once, with another attribute (backends/cpu/passes/outline_parallel.h). A backend that knows
// neither attribute runs the iterations serially. Pipelined loops run their children in turn, which is a
// legal order, with one copy of each ring buffer. Fragments are memory, with an address for each register of
// each lane. Lanes whose swizzled addresses are not neighbors are gathered and scattered.
//
// The lanes of a vectorized reduction loop are combined by a tree of halves after each vector. For a single
// tree after the loop, schedule it: rfactor (vectorize-rows, add-rfactor) keeps partial results in lanes, and
// the loop that combines them has the tree (tests/backends/trees_test.cc).
//
// Lowering decides whether a product and a sum round once. The module then says so by an fma, or by
// fastmath<contract> on both operations. Later steps fuse nothing that is not marked.
//
// Not thread-safe: one MLIRContext, one thread.
#pragma once

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "backends/lower/passes/lower_options.h"
#include "lang/program/program.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"

namespace kiln {

// Lowers a program, which must pass Verify, to a module. kFailedPrecondition if it has loops that a CPU lacks (on the
// axes of a GPU, or of virtual threads), if an extent is not constant, or if it breaks a rule of
// lang/analysis/lowerable.h.
absl::StatusOr<mlir::OwningOpRef<mlir::ModuleOp>> Lower(const Program& program, mlir::MLIRContext& context,
                                                        const LowerOptions& options = {});

// Returns the text of the decomposed program and of the loop plan that Lower emits
// (backends/lower/text/loop_plan_parse.h). Returns the same errors as Lower.
absl::StatusOr<std::string> PlanText(const Program& program, const LowerOptions& options = {});

// Returns the names of a lowered program's entry points: NAME, and NAME_prepare if the program has a prepare phase.
std::vector<std::string> EntryPoints(const Program& program);

}  // namespace kiln
