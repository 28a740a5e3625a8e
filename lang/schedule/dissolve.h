// Removes blocks that contain other blocks: their contents take their place, bound to the loops around them.
//
//   for io: block tile(i = io):                    for io:
//     for ii: block b(j = i*4 + ii)      ->          for ii: block b(j = io*4 + ii)
//
// The same instances run in the same order. Lowering starts with this step, for nothing after it needs tiles.
#pragma once

#include "lang/program/program.h"

namespace kiln {

void DissolveNests(Program& program);

}  // namespace kiln
