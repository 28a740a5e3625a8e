// Runs one primitive inside another without recording it. Late primitives (design D3) consist of such steps. Rules of
// pipelines, prepared nests and calls of intrinsics are checked only at the end of the outer step.
#pragma once

#include <vector>

#include "lang/schedule/primitive.h"

namespace kiln {

// Runs the primitive called `name` on loops, numbers and attributes; attributes that are left out get their
// default. If `results` is not null, it receives the new loops or blocks. On an error the program is
// unchanged.
absl::Status RunNested(Call& call, const char* name, const std::vector<Id>& loops,
                       const std::vector<int64_t>& numbers, const std::vector<Attribute>& attributes,
                       std::vector<Id>* results);
// Runs the primitive called `name`, whose first operand is a block, inside another primitive, without recording it.
// Fills `results` and keeps the program on errors as RunNested does.
absl::Status RunNestedOnBlock(Call& call, const char* name, Id block, const std::vector<Id>& loops,
                              const std::vector<Attribute>& attributes, std::vector<Id>* results);

}  // namespace kiln
