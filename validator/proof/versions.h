// Buffers that are written anew become buffers of their own. A part of validator/proof/proof.h.
//
// The proof rests on one value for each element (validator/proof/model.h). Where the original reads a buffer
// and then stores to all that was written of it, what it stores is the buffer's next *version*. In a program
// in which, element by element, all that is done with one version comes before the stores of the next, it
// changes nothing if versions do not share their memory. So the proof speaks of programs in which they do
// not: the last version keeps the buffer, the others get buffers after the original's.
//
// To which version a block's reads and writes belong is a guess (what is read is what the block before it
// writes; a store is of the version of the block it comes from), which only makes programs too hard.
#pragma once

#include "validator/proof/compare.h"

namespace kiln::proof {

// A buffer has several writers: otherwise there is nothing to take apart.
bool MayWriteAnew(const Program& original);

// Rewrites both programs. kUnknown if versions are not proven to be apart; then nothing may be concluded.
Finding TakeApart(Decider& decider, Program& original, Program& scheduled);

}  // namespace kiln::proof
