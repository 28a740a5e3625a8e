// Equivalence by running (design D9): which elements of an output to look at, and whether arrays agree.
//
//   for (const Element& at : ChooseElements(scheduled, 64, seed))
//     ... evaluate `at` with the interpreter, and compare with what the compiled program wrote there (Agrees)
//   Disagreement(...)   compares whole arrays
//
// Pure; any number of threads.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "validator/prover.h"

namespace kiln {

struct Element {
  Id buffer = kNone;
  std::vector<int64_t> index;
  friend bool operator==(const Element& a, const Element& b) {
    return a.buffer == b.buffer && a.index == b.index;
  }
};

// Up to n different elements of each output: its corners, then where the tiles of a scheduled program begin
// and end, at most half of n of these, then random ones. All elements where there are no more than n.
std::vector<Element> ChooseElements(const Program& program, int n, uint64_t seed);

// NaN agrees with NaN, an infinity with the same infinity.
bool Agrees(double found, double wanted, const OutputTolerance& tolerance);

// Where two arrays (elements as they lie in memory, of the output's dtype) disagree most, in words; nullopt
// if they agree.
std::optional<std::string> Disagreement(DType dtype, absl::string_view found, absl::string_view wanted,
                                        const OutputTolerance& tolerance);

}  // namespace kiln
