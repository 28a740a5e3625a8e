// Prepares the threads of the pool (kiln_pool.h) for timed runs.
#pragma once

namespace kiln {

inline constexpr int kMaxThreads = 1024;

// Starts the pool's threads (the caller is one of `count`), pins each to one of this process's cores in turn,
// and gives it a stack for signals. Returns the number of threads, which is smaller, after a second, if the
// system has no more. Call it once per process.
int StartThreads(int count);

}  // namespace kiln
