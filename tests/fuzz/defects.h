// Whether planted defects (lang/defect.h) are found: the fuzzer under each, in a process of its own.
#pragma once

#include <cstdint>

namespace kiln::fuzz {

// Prints, for each defect named in the sources, the property that found it and after how many pairs; 0 if all
// were found within `seeds` seeds.
int FindDefects(int64_t seeds);

}  // namespace kiln::fuzz
