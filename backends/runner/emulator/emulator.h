// Runs kernels of a GPU on the CPU. backends/gpu/emulate.h compiles them to a shared object whose entry point
// has the signature of a CPU kernel and calls the functions below for each instruction that only a GPU has.
//
//   Emulation emulation({.mode = EmulationMode::kRandom, .seed = 1});
//   const int32_t status = kernel(a, b, c);              // in this thread
//   if (!emulation.fault().empty()) ...                  // then status is not 0
//
// The threads of a block are fibers. Blocks run one after the other. Shared memory and the workspace begin
// with bytes that make NaNs. Faults: a race, a read of shared memory that nothing wrote, a deadlock, a
// barrier or shuffle that only some of its threads reach or that they reach at different instructions, an
// access out of bounds or misaligned. A fault ends the launch. Races and reads before writes are found in
// mode kRandom alone. Of a block with more than 4 million accesses, they are looked for at fewer and fewer places.
//
// It shares no code with lowering: it judges the code that was made. Not modelled: time, caches, the order in
// which other blocks see writes.
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
  // No block of a launch begins after so many accesses of the launch, but one always runs. Blocks run in the order first,
  // last, middle, others by the seed. 0: all run.
  int64_t most_accesses = 0;
  // In the first `whole_launches` launches the other blocks run too, since later launches need what they write: without
  // checks, copies at once. In later launches they do not run.
  int64_t whole_launches = 0;
  // False: no fault but a race is reported. Accesses may lie anywhere, and threads that wait for some that do not come go
  // on. For tests that ask whether something else finds a fault. It does not travel with a kernel (Encode).
  bool checks = true;
};

// The tag of the field by which a kernel says that the emulator runs it (KernelField in runner.h), and its bytes.
// Decode returns false, and an unspecified value, for bytes that Encode did not write.
inline constexpr uint32_t kEmulationField = 5;
std::string Encode(const EmulationOptions& options);
bool Decode(const std::string& bytes, EmulationOptions* options);

// What the emulated code did.
struct EmulationCounts {
  int64_t launches = 0, blocks = 0, barriers = 0, accesses = 0;  // with checks
  int64_t unchecked = 0, left_out = 0;                           // blocks
};

// Emulated kernels of this thread run under the options of the last Emulation that lives.
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

// What an emulated kernel returns after a fault.
inline constexpr int32_t kEmulationFault = 86;

}  // namespace kiln

// --- What emulated code calls. A site is a number that an instruction has in its kernel.

extern "C" {
// Runs a launch whose kernel takes its arguments as a table. Returns 0 or kEmulationFault.
int32_t kiln_emulate_launch(const char* name, void (*kernel)(void* const*), void* const* arguments,
                            const int64_t* bytes, int64_t count, int64_t blocks, int64_t threads,
                            int64_t shared_bytes);
void* kiln_emulate_workspace(int64_t bytes);
void* kiln_emulate_shared();
int32_t kiln_emulate_thread();   // of the block
int32_t kiln_emulate_block();    // of the grid
int32_t kiln_emulate_threads();  // in a block
int32_t kiln_emulate_blocks();   // in the grid
// Checks an access before it happens. 0 bytes: none.
void kiln_emulate_access(const void* address, int64_t bytes, int64_t alignment, int32_t write);
void kiln_emulate_barrier(int64_t site, int32_t number, int32_t threads);  // 0 threads: all of the block
void kiln_emulate_warp_barrier(int64_t site, int32_t mask);
// kind: 0 xor, 1 up, 2 down, 3 from a lane.
int32_t kiln_emulate_shuffle(int64_t site, int32_t mask, int32_t value, int32_t offset, int32_t clamp,
                             int32_t kind);
// Copies from global to shared memory: `bytes` are written, those after the first `read` are 0.
void kiln_emulate_copy(void* to, const void* from, int32_t bytes, int32_t read);
void kiln_emulate_commit();
void kiln_emulate_wait(int32_t groups);  // until at most so many groups are open
}
