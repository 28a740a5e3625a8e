// Whether a scheduled program may be built and run on a target: a table of named checks (validator/checks/,
// one file each), asked for every proposal of the search. That each decision lies in its support is checked
// where it is replayed.
//
// Structure, which a primitive that is wrong could break:
//   parallel        iterations of parallel loops are independent, and none contains another
//   vectorized      the same for vectorized loops, whose reductions may be combined across lanes;
//                   2 to 64 lanes
//   registers       buffers in registers are indexed by unrolled and vectorized loops only
// Limits, which no primitive looks at:
//   register-tile   what a block holds in registers, the widest vector that it loads, and one more fit the
//                   target's registers
//   unrolled        no unrolled loop writes out more than Target::max_unrolled instances; a vector counts
//                   as its registers
//   stack           buffers on the stack and in registers take at most 256 KiB
//   memory          temporaries take at most 1 GiB, one for each core where they are private to iterations
//                   of a parallel loop
//   depth           at most 60 loops around a block
//
// Add a check by writing its file and naming it in validate.cc. A check reads Nests and the target, and takes
// microseconds: the hot path has one Nests per thread and shares it with the features (search/features/features.h).
//
//   nests.Read(program);
//   const Verdict verdict = Validate(nests, target);
//
// Verify, which is the first of all checks, is for programs that do not come from primitives;
// Validate(program, target) runs it. Pure; any number of threads.
#pragma once

#include <string>

#include "absl/status/status.h"
#include "lang/analysis/nests.h"
#include "lang/target/target.h"

namespace kiln {

struct Verdict {
  bool ok = true;
  absl::string_view check;  // the name in the table, "verify", or empty
  std::string message;      // what was found and what is allowed
  // OK, or kFailedPrecondition "check NAME: MESSAGE".
  absl::Status status() const;
};

// The program that `nests` has read, which passes Verify.
Verdict Validate(const Nests& nests, const Target& target);
Verdict Validate(const Program& program, const Target& target);

}  // namespace kiln
