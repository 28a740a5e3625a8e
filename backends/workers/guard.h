// Allocates memory for the parameters of kernels between guards, which detect accesses outside of a parameter, and
// installs a signal handler that reports them.
//
//   | no access | canary bytes | parameter, 64-byte aligned | canary to the next 64 bytes | no access |
//
// An access in the page after the last 64-byte line of a parameter, or in the page before its canary bytes, faults at
// once. CanaryIntact finds a write in between, and a read in between gives NaN. A write to a protected parameter
// faults. The handler stores what it finds in a RunNote, which the parent process shares, and lets the fault end the
// process. Memory of parameters is never freed, because the process of a candidate is short-lived. One thread sets
// everything up; the handler may run on any thread. Memory that a kernel allocates in its checked run is guarded in the
// same way (heap_guard.h).
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <vector>

namespace kiln {

enum class RunPhase { kSetup, kLoad, kPrepare, kWarmup, kTiming };
enum class FaultKind { kNone, kElsewhere, kPastEnd, kBeforeStart, kReadOnly };

// What a process that runs a candidate notes for its parent, in memory shared with it: the phase, the samples taken,
// whether an allocation was refused, and which access faulted. The parent reads the note if the process dies.
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
  // Allocates `bytes` bytes between guards. Returns null if there is not enough memory. `param` is the position of the
  // parameter that reports name; -1 for a temporary.
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

// Gives the calling thread a separate stack for signal handlers, so that the handler can run, and report, after a stack
// overflow.
void UseSignalStack();

// Installs the handler of SIGSEGV and SIGBUS for all threads and the rest of the process, and gives the calling thread
// a signal stack. The handler records in `note` which of the buffers, or which guarded temporary (heap_guard.h), the
// first fault hit. Then it lets the fault end the process. Both arguments must outlive the process's last fault.
void InstallFaultHandler(const std::vector<std::unique_ptr<GuardedBuffer>>* buffers, RunNote* note);

// Records in the RunNote given to InstallFaultHandler that an allocation was refused; does nothing before that call.
// The runner's AllocationRefused (allocation.h) calls it.
void NoteRefusedAllocation();

}  // namespace kiln
