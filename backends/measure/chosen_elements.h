// Evaluates some elements of a program's outputs with the interpreter (design D9): by default the edges of a schedule's
// tiles and others chosen by the seed, or the elements that the caller gives, such as those that some emulated thread
// blocks wrote. ElementsOptions::stop ends the evaluation early.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "backends/runner/data.h"
#include "lang/program/program.h"
#include "lang/program/scalar.h"
#include "validator/numeric/tolerance.h"

namespace kiln {

struct ChosenElement {
  Element at;         // of the scheduled program
  int param = 0;      // its parameter
  int64_t index = 0;  // the element in the array
  Scalar value;       // that the original computes
};

struct ChosenElements {
  std::vector<ChosenElement> elements = {};  // those that were evaluated before the stop
  std::string error = {};                    // why the interpreter refuses the program; usually empty
  bool all = false;                          // whether no element is missing
};

struct ElementsOptions {
  int of_each_output = 64;
  uint64_t data_seed = 0;
  std::vector<DataRange> ranges = {};  // of each parameter
  std::vector<Element> elements = {};  // of the scheduled program; empty: they are chosen
  std::function<bool()> stop = [] { return false; };
};

ChosenElements EvaluateChosen(const Program& original, const Program& scheduled,
                              const ElementsOptions& options);

// Returns at most `n` elements of each output, chosen by the seed among those that a run wrote. `file` has the outputs
// of the run, one after the other. An element with the pattern of FillPoison counts as not written.
std::vector<Element> ChooseWritten(const Program& scheduled, const std::string& file, int n, uint64_t seed);

}  // namespace kiln
