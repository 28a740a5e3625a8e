// Declares the thread pool of compiled code, which kiln_pool.c implements in C. The runner, tests and benchmarks
// include this header. Compiled code calls the pool through a weak symbol and runs on one thread without it. Candidates
// use the runner's pool, the libNAME.so of an export contains one, and NAME.o uses the pool of the program that it is
// linked into.
//
// The pool is written for Kiln, because it is exported and may need only libc (docs/decisions/0008). Any thread may
// call it.
#pragma once

#include <cstdint>

// Calls body(begin, end, args) for disjoint ranges that together are 0 .. total, on up to `threads` threads including
// the caller, and returns when all calls have returned. Each range except the last has at least `chunk` iterations. If
// another call is in progress, or if there is only one thread or one chunk, the caller runs everything as one range. If
// `total` is not positive, `body` is not called.
extern "C" void kiln_parallel_for(int threads, int64_t total, int64_t chunk,
                                  void (*body)(int64_t begin, int64_t end, void** args), void** args);
