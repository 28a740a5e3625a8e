// How one access of a block meets the memory of a GPU: what a request of a warp costs, and how much memory
// the access touches while some of the loops run.
//
//   const WarpRequest request = RequestOf(nests, block, access, threads);
//   request.Sectors(), request.BankCycles()
//
//   std::vector<double> running(block.depth, 1);    // one iteration of each loop
//   running[d] = extent;    // and all iterations of the loop at depth d
//   BytesOf(nests, access, running)
//
// Terms that are no linear functions of loops count with their guesses. Pure; any thread.
#pragma once

#include <array>
#include <cstdint>

#include "absl/types/span.h"
#include "lang/analysis/legality.h"
#include "lang/analysis/loop_nest_summary.h"

namespace kiln {

inline constexpr int kWarpLanes = 32;
inline constexpr int64_t kSectorBytes = 32;  // what memory moves at least

// The bytes that the lanes of a warp access with one instruction.
struct WarpRequest {
  int lanes = 0;                                 // those that run
  int64_t width = 4;                             // bytes of a lane: 1 to 16
  std::array<int64_t, kWarpLanes> address = {};  // in bytes, from the beginning of the buffer
  // The depth of the loop around the block whose iterations requests take together, or -1. `pieces` requests
  // take all of its iterations: a vector wider than 16 bytes is several.
  int along = -1;
  int64_t pieces = 1;

  int Sectors() const;  // of 32 bytes that the lanes touch
  // Returns the cycles of a request to shared memory. Each of 32 banks gives one word of 4 bytes a cycle; lanes that
  // read the same word share it. Requests of 8 and 16 bytes a lane are served by halves and quarters of the warp.
  int BankCycles() const;
};

// Returns the request of the first warp, with all loops that are not on axes of threads in their first iteration.
// `threads` are those of the kernel. A vectorized loop with neighbouring elements makes the lanes wider as far as all
// addresses are aligned. So does an unrolled loop, since LLVM makes vectors of neighbours in a straight line.
WarpRequest RequestOf(const LoopNestSummary& nests, const NestBlock& block, const NestAccess& access,
                      const Threads& threads);

// Returns how many iterations of a loop are written out at a time: all of an unrolled loop, as many as its annotation
// says of a serial one, and 1 of any other.
int64_t UnrolledSteps(const LoopNestSummary& nests, const NestLoop& loop);

// Returns the bytes that an access touches while running[d] consecutive iterations of the loop at depth d around it
// run. Runs of elements count in whole sectors.
double BytesOf(const LoopNestSummary& nests, const NestAccess& access, absl::Span<const double> running);

}  // namespace kiln
