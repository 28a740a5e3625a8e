// Returns a program with all its loops changed to one kind, such as vectorized or unrolled.
#pragma once

#include "lang/program/program.h"

namespace kiln {

inline Program WithLoops(Program p, LoopKind kind) {
  for (Id node = 0; node < static_cast<Id>(p.nodes.size()); ++node) {
    if (p.IsLoop(node)) p.loop(node).kind = kind;
  }
  return p;
}

}  // namespace kiln
