// Runs a step within a step, without recording it. Late primitives (design D3) are made of such steps.
#pragma once

#include <vector>

#include "lang/schedule/primitive.h"

namespace kiln {

// Runs the primitive called `name` on loops, numbers and attributes (those left out have their fallbacks);
// `results`, if not null, gets its new loops or blocks. On a status the program is as it was.
absl::Status RunNested(Call& call, const char* name, const std::vector<Id>& loops,
                       const std::vector<int64_t>& numbers, const std::vector<Attribute>& attributes,
                       std::vector<Id>* results);
// The same for a primitive whose first operand is a block.
absl::Status RunNestedOnBlock(Call& call, const char* name, Id block, const std::vector<Id>& loops,
                              const std::vector<Attribute>& attributes, std::vector<Id>* results);

}  // namespace kiln
