// Finds places in the loop tree: the position among a loop's children at which compute-at and
// reverse-compute-at put a block, and the positions of copies of what a block reads and writes.
#pragma once

#include "absl/status/statusor.h"
#include "lang/program/program.h"

namespace kiln {

// The child before which to put it (kNone: the end), from "first", "last", or the number of a child. It may
// come after all children that hold one of `before`, and before all that hold one of `after`;
// kFailedPrecondition for a number elsewhere.
absl::StatusOr<Id> PlaceBelow(const Program& program, Id loop, const std::vector<Id>& before,
                              const std::vector<Id>& after, const std::string& place);

// The innermost loop, block or root that a block shares with all who read what it writes: at its end the
// results are complete. Of what nobody reads, which iterations that run at once may have for themselves: the
// innermost loop at whose end they are complete. And the one that it shares with all who write `buffer`.
Id ScopeOfReaders(const Program& program, Id block);
Id ScopeOfWriters(const Program& program, Id block, Id buffer);

}  // namespace kiln
