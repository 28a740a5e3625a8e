// Starts and pins the threads of the pool of compiled code (kiln_pool.h) before timed runs.
#pragma once

namespace kiln {

inline constexpr int kMaxThreads = 1024;

// Starts the pool's threads (the caller is one of `count`), pins each to one of this process's cores in turn, and gives
// each a stack for signals. Returns the number of threads. It is less than `count`, after a second, if the system has
// no more threads. Call it once per process.
int StartThreads(int count);

}  // namespace kiln
