// A program run without numbers: each element holds a term that says how its value came about. Two programs
// whose outputs hold the same terms compute the same, for every input and without a tolerance.
//
// A term is an input's element, a constant, an operation on terms, or a bag: what entered a reduction, in no
// order. Bodies become terms with the terms of what they load, so copies and inlining change none; a bag that
// enters a reduction of the same monoid is poured into it, so partial results, and the order of a reduction,
// change none either. An instance that enters twice does (not where the monoid is idempotent), as does one
// that is missing. Indices and constants are evaluated, guards decided by them, and what is neutral in a
// monoid (padding) leaves no trace; 0 times anything is 0. Terms are 128-bit hashes.
//
// Also found: what the interpreter finds (lang/reference/interpreter.h), and iterations of a parallel or vectorized
// loop that read, write otherwise, or (of a parallel one) combine into what another iteration wrote.
//
// About 5 million instances a second. Pure; any number of threads may run the same program.
#pragma once

#include <vector>

#include "absl/status/statusor.h"
#include "lang/base/mixer.h"
#include "lang/reference/interpreter.h"

namespace kiln {

struct ShadowElement {
  Hash128 term;          // 0 if no instance wrote it
  int64_t combined = 0;  // if a reduction made it: how much entered
  friend bool operator==(const ShadowElement& a, const ShadowElement& b) { return a.term == b.term; }
};

// Elements of the outputs, row-major, in the order of Program::parameters; then the status.
using Shadow = std::vector<std::vector<ShadowElement>>;

// kInternal where the interpreter would fail, or iterations disturb each other.
absl::StatusOr<Shadow> RunShadow(const Program& program, const InterpreterOptions& options = {});

// kInternal, with the first element that differs, if `program` does not do what gave `wanted`, a shadow of a
// program with the same parameters.
absl::Status CheckShadow(const Program& program, const Shadow& wanted,
                         const InterpreterOptions& options = {});

}  // namespace kiln
