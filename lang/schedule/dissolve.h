// Blocks around others taken away: what is within stands in their place, bound to the loops around them.
//
//   for io: block tile(i = io):                    for io:
//     for ii: block b(j = i*4 + ii)      ->          for ii: block b(j = io*4 + ii)
//
// The same instances run in the same order. Lowering does this first: what a tile was for is done by then.
#pragma once

#include "lang/program/program.h"

namespace kiln {

void DissolveNests(Program& program);

}  // namespace kiln
