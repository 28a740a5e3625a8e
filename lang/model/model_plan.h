// A model as a list of calls, and where its buffers lie. A call runs the code of one task (lang/graph/outline.h), or
// code that another compiler made (lang/program/foreign_call.h).
//
// The code of a model takes three areas of memory from its caller: the parameters, the weights and the arena. The
// weights are written once, by a prepare phase, and only read afterwards. The arena holds what one call leaves
// for a later one; its contents mean nothing between runs. The prepare phase has a scratch area of its own.
//
// Calls that read constants alone run in the prepare phase. The code of other calls may have a prepare phase, too,
// which lays out constants. The whole prepare phase goes through the calls in order.
//
// Plain data. plan_calls.h makes it, validator/model/ checks it, backends/model/ compiles it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "lang/program/program.h"

namespace kiln {

struct Location {
  enum class Area { kNone, kParameter, kArena, kWeights, kScratch };
  Area area = Area::kNone;
  int64_t offset = 0;  // in bytes; of a parameter: its position in Program::parameters
  int64_t bytes = 0;
};

// Offsets in the memory areas of a model are multiples of this many bytes, and so are the addresses of the areas.
inline constexpr int64_t kModelAlignment = 64;

struct ModelCall {
  int task = 0;                  // position in the list of tasks, with the foreign calls behind them
  int foreign = -1;              // position in the list of foreign calls, if it is one
  bool prepares = false;         // whether it runs in the prepare phase
  std::vector<Id> blocks = {};   // of the model: what the call computes; none if it is foreign
  std::vector<Id> buffers = {};  // of the model, one for each parameter of the code
  std::vector<char> read_by_prepare = {};  // by parameter: 1 if only the prepare phase of the code reads it
  // The arrays that the prepare phase of the call's code writes, in the weights. Calls of one task on the same
  // constants share them.
  std::vector<Location> prepared = {};
  std::vector<Location> workspaces = {};  // scratch memory during the call, in the arena or the scratch area
};

// A copy between two buffers that no call makes, because its source lies where the copy would be: `part` lies in
// `whole`. The writer of `part` thereby writes that part of `whole`; for a slice, the writer of `whole` writes `part`.
struct ModelView {
  Id copy = kNone;  // the block
  Id part = kNone, whole = kNone;
  int64_t offset = 0;  // bytes from the beginning of `whole`
  bool slice = false;  // the block copies the part from the whole, and not to it
};

struct ModelPlan {
  std::vector<ModelCall> calls = {};   // in the order in which they run
  std::vector<Location> buffers = {};  // by buffer of the model; in Area::kNone if it has none
  std::vector<ModelView> views = {};
  int64_t arena_bytes = 0, weights_bytes = 0, scratch_bytes = 0;
};

}  // namespace kiln
