// Tests whether the fuzzer finds planted defects (lang/base/defect.h). It searches for each defect in a process of its
// own.
#pragma once

#include <cstdint>
#include <string>

namespace kiln::fuzz {

struct DefectStudy {
  std::string only;     // studies only defects whose names contain this text
  int64_t seeds = 0;    // largest number of seeds for a defect
  int64_t threads = 1;  // number of defects that are studied at once
  std::string results;  // a file for the findings: [{"defect", "property", "seed", "pairs", "seconds"}]
  std::string known;    // such a file, whose seeds are tried first, except by studies of the proof; or empty
  bool proofs = false;  // true: studies the proof (validator/proof/proof.h) on programs made with the defects
  bool clocks = true;   // false: tries only the known seeds of what thread clocks found, without these
};

// Runs the fuzzer with each planted defect, except a few that only tests can find. Prints, for each of them, the
// property that found it and after how many pairs. A crash counts as found, and so does a seed that takes more than 5 s
// of processor time. Returns 0 if all were found, 1 if not, and 2 if this build has no defects.
//
// Without `clocks`, tries only the defects that thread clocks found according to the file `known`, each with its known
// seed and without thread clocks. Returns 0 if there are such defects and none is found: nothing else finds them.
//
// With `proofs`, primitives and synchronization plans are made with the defect, and the proof runs without it. Prints
// how often symbolic runs or thread clocks refused the resulting programs and plans, and how often the proof accepted
// one of these nevertheless. Returns 0 if it never did.
int FindDefects(const DefectStudy& study);

}  // namespace kiln::fuzz
