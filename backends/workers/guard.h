// Guarded memory for parameters, which detects misuse, and a signal handler that reports it.
//
//   | no access | canary bytes | parameter, 64-byte aligned | canary to the next 64 bytes | no access |
//
// An access past the last 64-byte line of a parameter, or far before it, faults at once. CanaryIntact finds a
// write in between, and a read in between gives NaN. A write to a protected parameter faults. The handler
// stores what it finds in a RunNote, which the parent process shares, and lets the fault end the process.
// Nothing is freed, because the process of a candidate is short-lived. One thread sets everything up; the
// handler may run on any thread. Temporaries of a checked kernel are guarded in the same way (heap_guard.h).
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <vector>

namespace kiln {

enum class RunPhase { kSetup, kLoad, kPrepare, kWarmup, kTiming };
enum class FaultKind { kNone, kElsewhere, kPastEnd, kBeforeStart, kReadOnly };

// What is known about a candidate's process after it died, in memory shared with the parent.
struct RunNote {
  std::atomic<RunPhase> phase{RunPhase::kSetup};
  std::atomic<int> samples{0};
  std::atomic<bool> allocation_refused{false};
  std::atomic<FaultKind> fault{FaultKind::kNone};
  std::atomic<int> param{-1};      // position of the parameter, or -1 for a temporary; not set for kElsewhere
  std::atomic<int64_t> offset{0};  // in bytes from the parameter's start, or from its end if past it
  std::atomic<uint64_t> address{0};
};

class GuardedBuffer {
 public:
  // Returns null if there is not enough memory. `param` is -1 for a temporary.
  static std::unique_ptr<GuardedBuffer> Make(int param, int64_t bytes);

  void* data() const { return data_; }
  int64_t bytes() const { return bytes_; }
  bool CanaryIntact() const;
  void Protect();  // makes writes fault
  void Unprotect();
  bool Reaches(const char* address) const;  // whether the address is in its bytes or guards
  void Unmap();                             // releases the memory

 private:
  friend class FaultHandler;
  int param_ = 0;
  int64_t bytes_ = 0;
  char* mapping_ = nullptr;  // from the first page without access
  char* first_ = nullptr;    // the first accessible byte
  char* data_ = nullptr;
  char* last_ = nullptr;  // one past the last accessible byte
  char* end_ = nullptr;   // one past the last page without access
};

// Gives the calling thread a separate stack for signal handlers, so that a stack overflow is reported too.
void UseSignalStack();

// Installs the handler of SIGSEGV and SIGBUS for all threads and the rest of the process. Both arguments must
// outlive it.
void InstallFaultHandler(const std::vector<std::unique_ptr<GuardedBuffer>>* buffers, RunNote* note);

// Records that an allocation function returned null. The allocation functions of the process call it
// (allocation.h).
void NoteRefusedAllocation();

}  // namespace kiln
