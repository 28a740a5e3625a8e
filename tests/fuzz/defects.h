// Whether planted defects (lang/defect.h) are found: the fuzzer under each, in a process of its own.
#pragma once

#include <cstdint>
#include <string>

namespace kiln::fuzz {

// Prints, for each defect named in the sources (only those whose names hold `only`), the property that found
// it and after how many pairs; 0 if all were found within `seeds` seeds. `threads` defects are looked for at
// once. With a file of `results`, what was found is written there as JSON: [{"defect", "property", "pairs"}].
int FindDefects(const std::string& only, int64_t seeds, int64_t threads, const std::string& results);

}  // namespace kiln::fuzz
