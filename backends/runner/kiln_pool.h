// The thread pool of compiled code, a C file of its own (kiln_pool.c), as the runner, tests and benchmarks
// call it. Compiled code calls it through a weak symbol, and runs alone where there is none: candidates use
// the runner's, libNAME.so of an export has one inside, and NAME.o uses that of the program it is linked
// into.
//
// Its own few lines, for they are exported and may need nothing but libc (docs/decisions/0008). Any thread
// may call.
#pragma once

#include <cstdint>

// body(begin, end, args) for ranges that make up 0 .. total, of at least `chunk` iterations, on up to
// `threads` threads, the caller among them. Runs on the caller alone while another call is under way.
extern "C" void kiln_parallel_for(int threads, int64_t total, int64_t chunk,
                                  void (*body)(int64_t begin, int64_t end, void** args), void** args);
