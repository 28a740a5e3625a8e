// Prints the plan of a model for people: its calls in the order in which they run, and where buffers lie.
#pragma once

#include <string>
#include <vector>

#include "absl/types/span.h"
#include "lang/model/model_plan.h"

namespace kiln {

// Prints one line a call: `call` or `prepare` (a call of the prepare phase), its number, its task, the buffers that it
// takes, how many bytes they have together, and its workspaces.
//   call 3: conv_2d_nchw_t1(arg4, pool_2, relu_5) bytes 98304 workspace 4096 at 0
//   call 4: foreign for(relu_5, for_result) bytes 98304
// `tasks` has the names of the tasks, then of the foreign calls.
std::string CallsText(const Program& model, const ModelPlan& plan, absl::Span<const std::string> tasks);

// Prints the size of the arena, of the weights, and of the scratch area of the prepare phase. Below each size, prints
// one line for each array in the area, by offset. A buffer of the arena or scratch area has the calls during which it
// is alive, or the buffer that it is a part of. A prepared array that several calls share has a line for each of them.
//   arena 7225344 bytes
//     0 .. 3211264  relu_5  calls 2 to 4
std::string MemoryText(const Program& model, const ModelPlan& plan);

}  // namespace kiln
