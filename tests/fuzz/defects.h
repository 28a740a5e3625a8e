// Tests whether the fuzzer finds planted defects (lang/base/defect.h). Each defect has a process of its own.
#pragma once

#include <cstdint>
#include <string>

namespace kiln::fuzz {

struct DefectStudy {
  std::string only;     // studies only defects whose names contain this text
  int64_t seeds = 0;    // largest number of seeds for a defect
  int64_t threads = 1;  // number of defects that are studied at once
  std::string results;  // a file for the findings: [{"defect", "property", "seed", "pairs", "seconds"}]
  std::string known;    // such a file, whose seeds are tried first, but by studies of the proof; or empty
  bool proofs = false;  // true: studies the proof (validator/proof/proof.h) on programs made with the defects
  bool clocks = true;   // false: tries only the known seeds of what thread clocks found, without these
};

// Prints, for each defect, the property that found it and after how many pairs. Returns 0 if all were found.
//
// Without `clocks`, returns 0 if all that the thread clocks found passes: nothing else finds it.
//
// With `proofs`, primitives run with the defect and the proof runs without it. Prints how often the symbolic
// run refused the resulting programs, and how often the proof was wrong. Returns 0 if it never proved a
// program that the symbolic run refused.
int FindDefects(const DefectStudy& study);

}  // namespace kiln::fuzz
