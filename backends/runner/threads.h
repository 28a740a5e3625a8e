// The threads of the pool (kiln_pool.h), made ready for timed runs.
#pragma once

namespace kiln {

inline constexpr int kMaxThreads = 1024;

// Starts the pool's threads, the caller being one of `count`, keeps each to one of the cores that this
// process may use (in turn), and gives it a stack for signals. Returns how many there are: fewer where the
// system has no more. Takes a second then. Once in a process.
int StartThreads(int count);

}  // namespace kiln
