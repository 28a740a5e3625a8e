// Runs one thread block of a GPU kernel in the emulator (emulator.h), with a fiber for each thread. Implements shared
// memory, barriers, shuffles and asynchronous copies, and checks accesses to memory. Private to emulator/.
#pragma once

#include <map>
#include <random>
#include <string>
#include <vector>

#include "backends/runner/emulator/clocks.h"
#include "backends/runner/emulator/emulator.h"
#include "backends/runner/emulator/fiber.h"

namespace kiln {

// A launch of an emulated kernel: the kernel's name, function and arguments, the numbers of blocks and threads, and the
// past accesses to global memory.
struct EmulatedLaunch {
  std::string name;
  void (*kernel)(void* const*) = nullptr;
  struct Argument {
    char* begin = nullptr;
    int64_t bytes = 0;
  };
  void* const* table = nullptr;
  std::vector<Argument> arguments = {};
  int64_t blocks = 1, threads = 1, shared_bytes = 0;
  Shadow global = {};
};

class EmulatedBlock {
 public:
  // Makes block `number` of a launch. Without checks, asynchronous copies happen at once, threads run in order, and
  // accesses to memory are not checked.
  EmulatedBlock(Emulation& emulation, EmulatedLaunch& launch, Fibers& fibers, int64_t number,
                bool checked = true);
  // Runs all threads of the block to their end. Returns false after a fault.
  bool Run();

  // --- The thread that runs calls these functions for its instructions: memory accesses, barriers, shuffles,
  // asynchronous copies.
  int64_t thread() const { return fibers_.current(); }
  int64_t number() const { return number_; }
  const EmulatedLaunch& launch() const { return launch_; }
  char* shared() const { return shared_; }
  void Access(const char* address, int64_t bytes, int64_t alignment, bool write, uint32_t group = 0) {
    if (checked_ && bytes > 0) Check(address, bytes, alignment, write, group);
  }
  void Barrier(int64_t site, int32_t number, int32_t threads);
  void WarpBarrier(int64_t site, uint32_t mask);
  int32_t Shuffle(int64_t site, uint32_t mask, int32_t value, int32_t offset, int32_t clamp, int32_t kind);
  void Copy(char* to, const char* from, int32_t bytes, int32_t read);
  void Commit();
  void Wait(int32_t groups);

 private:
  // A barrier or shuffle: the threads that wait there, and how many must come.
  struct Meeting {
    int64_t site = 0;
    int64_t wanted = 0;
    uint64_t generation = 0;
    std::vector<int64_t> here = {};
    std::map<int64_t, int32_t> even = {}, odd = {};  // values of shuffles by lane, by generation
  };
  struct PendingCopy {
    char* to;
    std::vector<char> bytes;
    uint32_t group;
  };
  struct Thread {
    const char* waits_at = nullptr;  // a word for the meeting; null: it does not wait
    int64_t waits_with = 0;          // threads of that meeting
    uint32_t group = 1;              // that copies are added to
    std::vector<PendingCopy> copies = {};
  };

  void Check(const char* address, int64_t bytes, int64_t alignment, bool write, uint32_t group);
  // Lets the running thread wait at a barrier or shuffle until `wanted` threads are there; the last one to come runs
  // `complete`. Reports a fault (with EmulationOptions::checks) if the threads come from different instructions
  // (`site`) or wait for different numbers of threads.
  template <typename Complete>
  void Meet(Meeting& meeting, const char* what, int64_t site, int64_t wanted, const Complete& complete);
  void CheckBounds(const char* address, int64_t bytes, int64_t alignment, const char* verb);
  // True if races and reads before writes are looked for at the address. All addresses are looked at until the block
  // has made 4 million accesses; then half of them, and after each further 4 million half as many.
  bool IsLookedAt(uint64_t address);
  // Tells the vector clocks of the race detector that these threads met at a barrier. Does nothing except in mode
  // kRandom, which alone looks for races.
  void Order(const std::vector<int64_t>& threads) {
    if (mode_ == EmulationMode::kRandom) clocks_.Join(threads);
  }
  void Land(Thread& thread, uint32_t last_group);
  void LandSome();
  void Deadlock();
  // Ends all waits at barriers and shuffles, so that their threads go on. Replaces the report of a deadlock without
  // EmulationOptions::checks.
  void GoOn();
  // Reports `what` as a fault of the running thread; does nothing without EmulationOptions::checks.
  void Object(const std::string& what) {
    if (emulation_.options_.checks) Fault(what);
  }
  [[noreturn]] void Fault(const std::string& what);
  std::string Place(const char* address) const;

  Emulation& emulation_;
  EmulatedLaunch& launch_;
  Fibers& fibers_;
  const int64_t number_;
  const bool checked_;
  const EmulationMode mode_;
  std::vector<char> arena_;
  char* shared_;
  std::mt19937_64 random_;
  Clocks clocks_;
  Shadow shadow_;                                // of shared memory
  EmulatedLaunch::Argument last_argument_ = {};  // that an access was in
  std::vector<Thread> threads_;
  std::map<int64_t, Meeting> barriers_, warps_;
  bool progress_ = false;
  int64_t accesses_ = 0;
  uint64_t unseen_ = 0;  // the bits of a hash that are 0 where races are looked for
};

}  // namespace kiln
