// Program -> MLIR: the list of passes.
//
//   dissolve-nests          blocks around others give way to what is in them     (Program -> Program)
//   decompose-reductions    derived initializations become blocks                (Program -> Program)
//   plan                    indices, layouts, conditions, places of buffers      (Program -> Plan)
//   write-out-short-loops   short loops that take fewer instructions written out (Program, Plan -> Program)
//   share-storage           temporaries in memory that others no longer need     (Program, Plan -> Plan)
//   emit                    func, scf, arith, math, vector and 1-D memref        (Program, Plan -> module)
//   pin-loads               loads stay in loops that have no registers for them  (module)
//
// The module holds an entry point NAME with one memref<Nxtype> for each of Program::parameters, in order,
// row-major or as the buffer's layout says; i1 takes a byte, index is i64. It returns 0 (i32). Children of
// the root that are marked `prepare` go to a second entry point NAME_prepare; temporaries that these write
// and the others read become further parameters of both, after the program's own, in the order of their ids.
//
// A parallel loop is an scf.for with an attribute. A buffer that each of its iterations has for itself is
// allocated once, with another attribute (backends/cpu/passes/outline_parallel.h). A backend that knows
// neither attribute runs the iterations serially. Pipelined loops run their children in turn, which is one of
// the orders that they allow, with one copy of what rings carry. Fragments are memory, with an address for
// each register of each lane. Lanes whose swizzled addresses are not next to each other are gathered and
// scattered.
//
// The lanes of a vectorized reduction loop are combined by a tree of halves after each vector. To get one
// tree after the loop, say so in the program: rfactor (vectorize-rows, add-rfactor) keeps partial results in
// lanes, and the loop that combines these has the tree (tests/backends/trees_test.cc).
//
// Whether a product and a sum round once is decided here and stands in the module: as an fma, or as
// fastmath<contract> on both. Nothing below fuses what is not marked so.
//
// Replace a pass by another function of the same kind. Not thread-safe: one MLIRContext, one thread.
#pragma once

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "backends/lower/passes/lower_options.h"
#include "lang/program/program.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"

namespace kiln {

// kFailedPrecondition: the program uses what this machine does not have (a GPU's loops), or
// an extent that is not constant, or does not pass lang/analysis/lowerable.h. It must pass Verify.
absl::StatusOr<mlir::OwningOpRef<mlir::ModuleOp>> Lower(const Program& program, mlir::MLIRContext& context,
                                                        const LowerOptions& options = {});

// The entry points of what Lower makes: NAME, and NAME_prepare if there is one.
std::vector<std::string> EntryPoints(const Program& program);

}  // namespace kiln
