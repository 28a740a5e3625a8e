// Decides whether a scheduled program may be built and run on a target. A table of named checks (validator/checks/, one
// file each) runs for every proposal of the search. Replay checks that each decision lies in its support.
//
// Structure. A faulty primitive could violate it:
//   parallel        iterations of parallel loops are independent, and no parallel loop contains another
//   vectorized      iterations of vectorized loops are independent, except that reductions may be combined
//                   across lanes; there are 2 to 64 lanes; no parallel or vectorized loop is inside
//   registers       only unrolled and vectorized loops, virtual threads and axes whose threads have their own
//                   registers index buffers in registers; also nesting and owners (lang/analysis/lowerable.h)
// Limits. No primitive checks them:
//   register-tile   if a block has buffers in registers, these, the widest vector that it loads from memory, and one
//                   more register fit the target's vector registers
//   unrolled        no unrolled loop makes more than Target::max_unrolled instructions, or than its bodies have once;
//                   a vector counts as its registers
//   stack           buffers on the stack and in registers take at most 256 KiB
//   memory          temporaries take at most 1 GiB, one for each core if they are private to iterations of a
//                   parallel loop
//   depth           a block has at most 60 loops around it
// The checks register-tile and stack are for CPUs. Limits of GPUs (lang/target/gpu.h):
//   gpu-launch      no loop is parallel, no buffer is a status, and a kernel has fewer than 2^31 blocks
//   gpu-threads     a thread block has at most as many threads as the GPU allows, those of producers included
//   gpu-shared      buffers in shared memory, with all copies of rings, and what reductions over threads
//                   exchange, fit a block's shared memory; buffers may take turns (lang/threads/shared_places.h)
//   gpu-registers   what a thread holds at a time, and 16 registers more, fit its registers; buffers on the
//                   stack take at most 4 KiB
//   gpu-vectors     of a block's accesses that step by one element along a vectorized loop, if any, the narrowest is
//                   no wider than what a thread moves at once
//
// To add a check, write its file and name it in validate.cc. A check reads LoopNestSummary and the target, and takes
// microseconds. The hot path has one LoopNestSummary per thread and shares it with the features
// (search/features/features.h).
//
//   nests.Read(program);
//   const Verdict verdict = Validate(nests, target);
//
// Verify comes before all checks and is needed only for programs that do not come from primitives. Validate(program,
// target) runs it. Pure; any number of threads.
#pragma once

#include <string>

#include "absl/status/status.h"
#include "lang/analysis/loop_nest_summary.h"
#include "lang/target/target.h"

namespace kiln {

struct Verdict {
  bool ok = true;
  absl::string_view check;  // the name in the table, "verify", or empty
  std::string message;      // what was found and what is allowed
  // Returns OK, or kFailedPrecondition "check NAME: MESSAGE".
  absl::Status status() const;
};

// Validates a program, and returns the first check that refuses it. The first function validates the program that
// `nests` has read, which must pass Verify. The second one runs Verify first.
Verdict Validate(const LoopNestSummary& nests, const Target& target);
Verdict Validate(const Program& program, const Target& target);

}  // namespace kiln
