// Equivalence, proven (design D9): whether a scheduled program computes what the original does, for every
// input that meets what the schedule's lemmas assume.
//
// Not by looking at what the steps were meant to do: from the two programs. The scheduled one has the
// original's buffers and blocks under their numbers, and more; its blocks say of which of the original's
// instances they are made (Provenance), which is checked. What is shown:
//   - every element has one value whenever it is read (validator/proof/model.h): what is read was written
//     before, nothing is read while a reduction is incomplete, iterations that may run at once do not disturb
//     each other (validator/proof/obligations.h);
//   - the value is the original's: bodies are equal up to what was inlined, copied and padded, and what
//     enters a reduction is each of the original's instances, once (validator/proof/compare.h).
// Floating point sums may be made in any order. All of it becomes questions about sets of integer points
// (validator/proof/prover.h), whose answers do not depend on the extents where the algebra of index maps has them.
//
// kProven and kRefuted are theorems. Refuted means that running both on terms (lang/reference/shadow.h) differs, so it
// is said of programs only that are small enough to be run so. kTooHard says what was not shown; the programs
// may be equal or not.
//
// Milliseconds, mostly. Pure; any number of threads, each with its own Prover.
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
  proof::Prover* prover = nullptr;  // asked what the algebra does not know of sets too large to be looked at
  absl::Duration limit = absl::Seconds(2);  // a question that has begun is finished
  int64_t most_points = 100'000;            // looked at for one question
  int64_t most_steps = 20'000;              // of comparing expressions
  // Programs with at most so many instances are run on terms where the proof does not succeed.
  int64_t most_instances = 2'000'000;
};

struct Proof {
  enum class Verdict : uint8_t { kProven, kRefuted, kTooHard };
  Verdict verdict = Verdict::kTooHard;
  std::string reason;   // kRefuted: what differs; kTooHard: what was not shown
  bool by_run = false;  // both programs were run on terms
  // What the schedule takes for granted of the data (AssumptionsOf in lang/schedule/primitive.h): nothing is said of
  // others.
  std::string assumptions = {};
};
absl::string_view ToString(Proof::Verdict verdict);  // "proven", "refuted", "too hard"

// kFailedPrecondition, "WHAT does not compute what the original does: ...", if it is refuted: what must not
// be handed out.
absl::Status TurnAwayRefuted(const Proof& proof, absl::string_view what);

// `scheduled` was made from `original` by primitives; both pass Verify.
Proof Prove(const Program& original, const Program& scheduled, const ProofOptions& options = {});

// Of a trace that was replayed on `original`: what its lemmas made of that is compared with, and what they
// assume is said.
Proof Prove(const Program& original, const Replayed& replayed, const ProofOptions& options = {});

}  // namespace kiln
