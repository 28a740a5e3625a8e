// Tests whether the fuzzer finds planted defects (lang/base/defect.h). Each defect has a process of its own.
#pragma once

#include <cstdint>
#include <string>

namespace kiln::fuzz {

struct DefectStudy {
  std::string only;     // of the defects named in the sources, those whose names hold this
  int64_t seeds = 0;    // of a defect, at most
  int64_t threads = 1;  // defects at once
  std::string results;  // a file for what was found, as JSON: [{"defect", "property", "pairs", "seconds"}]
  bool proofs = false;  // rather: what the proof (validator/proof/proof.h) says of what they make
};

// Prints, for each defect, the property that found it and after how many pairs; 0 if all were found.
//
// Of proofs: how often the symbolic run refused what the primitives made with the defect, and how often the
// proof, which runs without it, was wrong: 0 if it never said proven of what the symbolic run refuses.
int FindDefects(const DefectStudy& study);

}  // namespace kiln::fuzz
