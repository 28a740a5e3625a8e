// Gives a buffer that is overwritten as a whole a new name for each version. A part of
// validator/proof/proof.h.
//
// The proof relies on one value for each element (validator/proof/model.h). If the original reads a buffer
// and then stores to all elements written so far, it stores the buffer's next *version*. Suppose that for
// each element all accesses of one version come before the stores of the next. Then giving versions separate
// memory does not change the program. The proof handles programs with separate memory: the last version
// keeps the buffer, the others get buffers after the original's.
//
// The version that a block reads or writes is a guess: it reads what the preceding block writes, and it
// writes the version of the block it comes from. A wrong guess can only make a program too hard.
#pragma once

#include "validator/proof/compare.h"

namespace kiln::proof {

// True if some buffer has several writers. Otherwise no buffer has versions, and SeparateVersions has nothing to do.
bool MayWriteAnew(const Program& original);

// Gives each version of a buffer a buffer of its own, in both programs. Returns kUnknown, and changes nothing, if the
// versions are not proven to be separate; then the caller may conclude nothing.
Finding SeparateVersions(Decider& decider, Program& original, Program& scheduled);

}  // namespace kiln::proof
