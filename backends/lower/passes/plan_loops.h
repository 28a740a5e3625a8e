// Plans how a program is emitted: the passes in order. The first three and `build` make the plan. Each of the others
// improves it, and is left out without its policy (lang/target/policies.h). The passes named prefetch-... are also left
// out if LowerOptions::stream_bytes is 0.
//
//   inline-nested-blocks   replaces blocks that contain blocks by their contents     Program
//   decompose-reductions   makes blocks of derived initializations                   Program
//   plan-indices           resolves indices, layouts, conditions, places of buffers  Program -> IndexPlan
//   unroll-short-loops     unrolls short loops if that saves instructions            Program, IndexPlan
//   share-storage          lets temporaries share memory if their lives are apart    IndexPlan
//   build                  a node for each loop and block                            -> LoopPlan
//   lane-groups            divides the lanes of a loop into single vectors           LoopPlan
//   first-iteration        moves the test for a reduction's start outwards           LoopPlan
//   prefetch-results       fetches a tile of the result before the sums              LoopPlan
//   prefetch-panels        tiles fetch what later tiles read, in parts               LoopPlan
//   guards                 decides conditions early, makes versions                  LoopPlan
//   prefetch-streams       rows of large buffers are fetched one row ahead           LoopPlan
//   prefetch-nests         a nest fetches what the next nest reads first             LoopPlan
//   stream-stores          large results bypass the caches                           LoopPlan
//   transposed-stores      strided stores are transposed in registers                LoopPlan
//
// No file here depends on MLIR.
#pragma once

#include <string>

#include "absl/functional/function_ref.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "backends/lower/passes/lower_options.h"
#include "backends/lower/plan/loop_plan.h"
#include "lang/program/program.h"

namespace kiln::plan {

struct Planned {
  Program program;  // decomposed
  LoopPlan plan;
};

// A pass that changes a loop plan: the nodes of one entry point.
struct Pass {
  absl::string_view name;
  Policy policy;    // it is left out without this policy
  bool prefetches;  // it is left out if LowerOptions::stream_bytes is 0
  void (*apply)(const Program& program, const IndexPlan& indices, Nodes& nodes, const LowerOptions& options);
};

// Returns the passes that improve a loop plan after it was built, from lane-groups to transposed-stores, in the order
// in which they run.
absl::Span<const Pass> Passes();

// Called after each pass of lowering that runs, and after unroll-short-loops and share-storage in any case. Gets the
// pass's name and a function that returns the resulting program or plan as text.
using AfterPass = absl::FunctionRef<void(absl::string_view pass, absl::FunctionRef<std::string()> text)>;

// Returns the decomposed program and its loop plan. Runs all passes that `options` allow. The program must pass Verify
// and VerifyLowerable and have constant extents.
Planned PlanLoops(const Program& program, const LowerOptions& options, AfterPass after);
Planned PlanLoops(const Program& program, const LowerOptions& options);

}  // namespace kiln::plan
