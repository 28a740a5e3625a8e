// Describes how one access of a block uses the memory of a GPU: which bytes a warp requests and what the request costs,
// and how many bytes the access touches while some of the loops run.
//
//   const WarpRequest request = RequestOf(nests, block, access, threads);
//   request.Sectors(), request.BankCycles()
//
//   std::vector<double> running(block.depth, 1);    // one iteration of each loop
//   running[d] = extent;    // and all iterations of the loop at depth d
//   BytesOf(nests, access, running)
//
// Index terms that are not linear in the loops count with the guesses of LoopNestSummary. Pure; any thread.
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
  // The depth of the loop of which a request accesses several iterations as a vector, or -1. All iterations of this
  // loop take `pieces` requests, since a lane accesses at most 16 bytes by a request.
  int along = -1;
  int64_t pieces = 1;

  int Sectors() const;  // of 32 bytes that the lanes touch
  // Returns the cycles of a request to shared memory. Each of 32 banks gives one word of 4 bytes a cycle; lanes that
  // read the same word share it. Requests of 8 and 16 bytes a lane are served by halves and quarters of the warp.
  int BankCycles() const;
};

// Returns the request that the first warp of a thread block makes by an access, with all loops that are not on axes of
// threads in their first iteration. `threads` are the kernel's. A lane accesses as many neighbouring elements of a
// vectorized loop as the alignment of all addresses allows, up to 16 bytes; only one if the elements are not
// neighbours. The same holds for an unrolled loop, since LLVM makes vectors of neighbours in a straight line.
WarpRequest RequestOf(const LoopNestSummary& nests, const NestBlock& block, const NestAccess& access,
                      const Threads& threads);

// Returns how many iterations of a loop are written out at a time: all of an unrolled loop, as many as its annotation
// says of a serial one (1 without it, at most all), and 1 of any other.
int64_t UnrolledSteps(const LoopNestSummary& nests, const NestLoop& loop);

// Returns the bytes that an access touches while running[d] consecutive iterations of the loop at depth d around it
// run. Runs of elements count in whole sectors.
double BytesOf(const LoopNestSummary& nests, const NestAccess& access, absl::Span<const double> running);

}  // namespace kiln
