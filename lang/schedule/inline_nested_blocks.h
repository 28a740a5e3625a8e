// Inlines nested blocks: replaces a block that contains other blocks by its contents. The inner blocks are then bound
// to the loops around the outer one. An outer block with results of its own stays, and its former contents follow it.
//
//   for io: block tile(i = io):                    for io:
//     for ii: block b(j = i*4 + ii)      ->          for ii: block b(j = io*4 + ii)
//
// The same instances run in the same order. Lowering does this first, since its later steps have no use for
// tiles.
#pragma once

#include "lang/program/program.h"

namespace kiln {

void InlineNestedBlocks(Program& program);

}  // namespace kiln
