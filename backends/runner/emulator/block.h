// A block of threads that the emulator runs (emulator.h): its fibers, memory, and the meetings of its
// threads. Private to emulator/.
#pragma once

#include <map>
#include <random>
#include <string>
#include <vector>

#include "backends/runner/emulator/clocks.h"
#include "backends/runner/emulator/emulator.h"
#include "backends/runner/emulator/fiber.h"

namespace kiln {

// What the blocks of a launch have in common.
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
  // Makes block `number` of a launch. Without checks, copies happen at once, threads run in order, and accesses are not
  // looked at.
  EmulatedBlock(Emulation& emulation, EmulatedLaunch& launch, Fibers& fibers, int64_t number,
                bool checked = true);
  // Runs all threads to their end. Returns false after a fault.
  bool Run();

  // --- Calls of the thread that runs
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
  // Threads that wait for each other at one instruction.
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
    std::string waits_for = {};  // "": it does not
    uint32_t group = 1;          // that copies are added to
    std::vector<PendingCopy> copies = {};
  };

  void Check(const char* address, int64_t bytes, int64_t alignment, bool write, uint32_t group);
  // Adds the thread to a meeting of `wanted` threads; the last one to come runs `complete`. Returns when all
  // are there.
  template <typename Complete>
  void Meet(Meeting& meeting, const char* what, int64_t site, int64_t wanted, const Complete& complete);
  void CheckBounds(const char* address, int64_t bytes, int64_t alignment, const char* verb);
  // Whether races at the address are looked for: everywhere, but in a long block at fewer and fewer places.
  bool IsLookedAt(uint64_t address);
  void Land(Thread& thread, uint32_t last_group);
  void LandSome();
  void Deadlock();
  // Lets all threads that wait go on, instead of reporting a deadlock: without EmulationOptions::checks.
  void GoOn();
  // Reports what a check found, if checks are wanted.
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
  Shadow shadow_;  // of shared memory
  std::vector<Thread> threads_;
  std::map<int64_t, Meeting> barriers_, warps_;
  bool progress_ = false;
  int64_t accesses_ = 0;
  uint64_t unseen_ = 0;  // the bits of a hash that are 0 where races are looked for
};

}  // namespace kiln
