// Emulates kernels of a GPU on the CPU, and finds their faults. backends/gpu/emulate.h compiles kernels to a shared
// object whose entry point has the signature of a CPU kernel and calls the functions below for each instruction that
// only a GPU has.
//
//   Emulation emulation({.mode = EmulationMode::kRandom, .seed = 1});
//   const int32_t status = kernel(a, b, c);              // in this thread
//   if (!emulation.fault().empty()) ...                  // then status is not 0
//
// The threads of a block are fibers. Blocks run one after the other. Shared memory and the workspace begin with bytes
// that make NaNs. Faults: a race, a read of shared memory that nothing wrote, a deadlock, an access out of bounds or
// misaligned, and a barrier or shuffle that only some of its threads reach, that they reach at different instructions,
// or that is called with an invalid barrier, count or lane. A fault ends the launch. Races and reads before writes are
// found in mode kRandom alone. In a block with more than 4 million accesses, they are looked for at fewer and fewer
// addresses.
//
// The emulator shares no code with lowering, since it judges the code that lowering made. Not modelled: time, caches,
// the order in which other blocks see writes.
#pragma once

#include <cstdint>
#include <string>

namespace kiln {

enum class EmulationMode {
  kEager,   // threads in order; asynchronous copies happen when they are issued
  kLate,    // threads in order; asynchronous copies happen when the thread waits for them
  kRandom,  // threads in a random order, copies at a random moment; finds races
};

struct EmulationOptions {
  EmulationMode mode = EmulationMode::kEager;
  uint64_t seed = 0;
  // Limits how many blocks of a launch run with checks: after this many memory accesses in the launch, no further block
  // does, but the first always does. Blocks run in the order first, last, middle, others shuffled by the seed. 0: all
  // blocks run with checks, in ascending order.
  int64_t most_accesses = 0;
  // How many launches, from the first on, also run the blocks beyond `most_accesses`, without checks and with copies at
  // once, since later launches need what these blocks write. In the other launches, blocks beyond the limit do not run.
  int64_t whole_launches = 0;
  // False: reports races and reads before writes only. Accesses may lie anywhere, and threads that wait for others that
  // do not come go on. This is for tests that ask whether something else finds a fault. Encode leaves this option out.
  bool checks = true;
};

// The tag of the field (KernelField in runner.h) that makes a runner run a kernel in the emulator. Encode returns the
// bytes of this field, and Decode reads them. Decode returns false for bytes of another length or with an unknown mode.
inline constexpr uint32_t kEmulationField = 5;
std::string Encode(const EmulationOptions& options);
bool Decode(const std::string& bytes, EmulationOptions* options);

// Counts of what emulated code did: launches, blocks, barriers, accesses to memory, and blocks that ran without checks
// or not at all (EmulationOptions::most_accesses).
struct EmulationCounts {
  int64_t launches = 0, blocks = 0, barriers = 0, accesses = 0;  // blocks, accesses: with checks
  int64_t unchecked = 0, left_out = 0;                           // blocks
};

// Sets the options of emulated kernels that this thread runs while the object lives, and collects their first fault and
// counts. If several objects live, the last one counts.
class Emulation {
 public:
  explicit Emulation(const EmulationOptions& options);
  ~Emulation();
  Emulation(const Emulation&) = delete;
  Emulation& operator=(const Emulation&) = delete;

  // Returns "" or the first fault, such as
  // `softmax_0, block 0, thread 3: reads 4 bytes out of bounds, at byte 64 of argument 1, which has 64`.
  const std::string& fault() const { return fault_; }
  const EmulationCounts& counts() const { return counts_; }

 private:
  friend class EmulatedBlock;
  friend struct EmulatedRun;
  const EmulationOptions options_;
  std::string fault_;
  EmulationCounts counts_;
  Emulation* const outer_;
};

// The status that an emulated kernel returns after a fault.
inline constexpr int32_t kEmulationFault = 86;

}  // namespace kiln

// --- The functions that emulated code calls for instructions of a GPU. A `site` is the number of the calling
// instruction in its kernel.

extern "C" {
// Runs the blocks of a launch of `kernel`, which takes its `count` arguments as a table. `bytes` has the size of each
// argument. Without an Emulation, runs with the default EmulationOptions. Returns 0, or kEmulationFault after a fault,
// also one of an earlier launch.
int32_t kiln_emulate_launch(const char* name, void (*kernel)(void* const*), void* const* arguments,
                            const int64_t* bytes, int64_t count, int64_t blocks, int64_t threads,
                            int64_t shared_bytes);
void* kiln_emulate_workspace(int64_t bytes);
void* kiln_emulate_shared();
int32_t kiln_emulate_thread();   // of the block
int32_t kiln_emulate_block();    // of the grid
int32_t kiln_emulate_threads();  // in a block
int32_t kiln_emulate_blocks();   // in the grid
// Checks a memory access of the running thread before it happens: its bounds, its alignment, races with other threads,
// and reads of shared memory that nothing wrote. Ignores accesses of 0 bytes, and those of blocks that run without
// checks.
void kiln_emulate_access(const void* address, int64_t bytes, int64_t alignment, int32_t write);
void kiln_emulate_barrier(int64_t site, int32_t number, int32_t threads);  // 0 threads: all of the block
void kiln_emulate_warp_barrier(int64_t site, int32_t mask);
// Exchanges values between the lanes of a warp: returns the value of another lane, as PTX defines `shfl`. `kind` says
// how `offset` selects the lane: 0 lane xor offset, 1 lane - offset, 2 lane + offset, 3 the lane with the number
// offset. A lane whose source lies outside of its segment, which `clamp` defines, gets its own value.
int32_t kiln_emulate_shuffle(int64_t site, int32_t mask, int32_t value, int32_t offset, int32_t clamp,
                             int32_t kind);
// Begins an asynchronous copy from global to shared memory. `bytes` bytes are written: the first `read` are copied, the
// others are 0.
void kiln_emulate_copy(void* to, const void* from, int32_t bytes, int32_t read);
void kiln_emulate_commit();
void kiln_emulate_wait(int32_t groups);  // until at most so many groups are open
}
