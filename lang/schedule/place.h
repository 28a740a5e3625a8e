// Finds positions among the children of a loop: where compute-at and reverse-compute-at put a block, and
// where copies of a block's inputs and results go.
#pragma once

#include "absl/status/statusor.h"
#include "lang/program/program.h"

namespace kiln {

// Returns the child of the loop before which a new node goes; kNone: at the end. The node must follow all children that
// contain a node of `before`, and precede all that contain a node of `after`. `place` is "first" or "last", the ends of
// this range, or the number of a child. kFailedPrecondition for a number outside the range; kInvalidArgument for other
// texts.
absl::StatusOr<Id> PlaceBelow(const Program& program, Id loop, const std::vector<Id>& before,
                              const std::vector<Id>& after, const std::string& place);

// ScopeOfReaders returns the innermost loop, block or root that contains the block and some reader of its results, so
// that a copy of the results at the end of an iteration comes before every reader. Returns the root if nothing reads
// the results and they are results of the program. If they are temporaries that nothing reads, parallel iterations may
// keep private results; then it returns the innermost loop at whose end the results are complete. ScopeOfWriters
// returns the innermost node that contains the block and some writer of `buffer`; the root if there is none.
Id ScopeOfReaders(const Program& program, Id block);
Id ScopeOfWriters(const Program& program, Id block, Id buffer);

}  // namespace kiln
