// Proves equivalence (design D9): a scheduled program computes what the original does, for every input that
// meets the assumptions of the schedule's lemmas.
//
// The proof uses the two programs, not the steps between them. The scheduled program has the original's
// buffers and blocks under the same numbers, and more. Each of its blocks names the original's instances
// that it computes (Provenance); the proof checks this. It shows two things:
// - Every element has one value whenever it is read (validator/proof/model.h). Writes precede reads, no
//   block reads an incomplete reduction, and iterations that may run at once do not disturb each other
//   (validator/proof/obligations.h). The threads of GPU kernels wait for each other wherever they use the
//   same elements (validator/proof/synchronization.h).
// - The value is the original's. Bodies are equal up to inlining, copies and padding, and a reduction
//   combines each of the original's instances once (validator/proof/compare.h).
//
// Floating point sums may be reordered. The proof turns every claim into questions about sets of integer
// points (validator/proof/prover.h). The answers do not depend on the extents if the algebra of index maps
// finds them.
//
// kProven and kRefuted are theorems. Refuted means that running both programs on symbolic terms
// (lang/reference/symbolic.h) gives a difference, so only small programs can be refuted. kTooHard names what
// was not shown; the programs may be equal or not.
//
// A proof usually takes milliseconds. Pure; any number of threads, each with its own Prover.
#pragma once

#include <string>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "lang/program/program.h"
#include "trace/replay.h"

namespace kiln {

namespace proof {
class Prover;
}

struct ProofOptions {
  proof::Prover* prover = nullptr;  // decides what the algebra does not know about sets too large to visit
  absl::Duration limit = absl::Seconds(2);  // a question that has begun is finished
  int64_t most_points = 100'000;            // visited for one question
  int64_t most_steps = 20'000;              // of the comparison of expressions
  // If the proof fails and both programs together have at most this many instances, both are run on symbolic terms.
  int64_t most_instances = 2'000'000;
};

struct Proof {
  enum class Verdict : uint8_t { kProven, kRefuted, kTooHard };
  Verdict verdict = Verdict::kTooHard;
  std::string reason;   // kRefuted: what differs; kTooHard: what was not shown
  bool by_run = false;  // true if both programs were run on symbolic terms
  // What the schedule assumes about the data (AssumptionsOf in lang/schedule/primitive.h). The proof says
  // nothing about data that violates it.
  std::string assumptions = {};
};
absl::string_view ToString(Proof::Verdict verdict);  // "proven", "refuted", "too hard"

// Returns kFailedPrecondition, "WHAT does not compute what the original does: ...", if the proof refutes the program,
// otherwise OK. A refuted program must not be handed out.
absl::Status RejectRefuted(const Proof& proof, absl::string_view what);

// Tries to prove that `scheduled`, made from `original` by primitives, is equivalent. If that fails and the programs
// are small, runs both on symbolic terms, which may refute it. Both must pass Verify.
Proof Prove(const Program& original, const Program& scheduled, const ProofOptions& options = {});

// Proves a trace that was replayed on `original`. The trace's lemmas are applied to the original before the
// comparison, and the proof states their assumptions.
Proof Prove(const Program& original, const Replayed& replayed, const ProofOptions& options = {});

}  // namespace kiln
