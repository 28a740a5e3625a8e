// Memory for parameters that notices misuse, and the signal handler that says what was misused.
//
//   | no access | canary bytes | parameter, 64-byte aligned | canary to the next 64 bytes | no access |
//
// An access past the last 64-byte line of a parameter, or far before it, faults at once; a write between is
// found by CanaryIntact, and what is read between is no number. A protected parameter faults when written.
// The handler puts what it finds into a RunNote, which the parent process shares, and lets the fault end the
// process. Nothing is freed: the process that runs a candidate is short-lived. One thread sets everything up;
// the handler may run on any. Temporaries of kernels lie so too while a kernel is checked (heap_guard.h).
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <vector>

namespace kiln {

enum class RunPhase { kSetup, kLoad, kPrepare, kWarmup, kTiming };
enum class FaultKind { kNone, kElsewhere, kPastEnd, kBeforeStart, kReadOnly };

// What is known about a candidate's process after it died. It lies in memory shared with the parent.
struct RunNote {
  std::atomic<RunPhase> phase{RunPhase::kSetup};
  std::atomic<int> samples{0};
  std::atomic<bool> allocation_refused{false};
  std::atomic<FaultKind> fault{FaultKind::kNone};
  std::atomic<int> param{-1};      // the position, or -1 for a temporary; of a fault that is not elsewhere
  std::atomic<int64_t> offset{0};  // in bytes from the parameter's start, or from its end if past it
  std::atomic<uint64_t> address{0};
};

class GuardedBuffer {
 public:
  // Null when there is not so much memory. `param` -1: a temporary.
  static std::unique_ptr<GuardedBuffer> Make(int param, int64_t bytes);

  void* data() const { return data_; }
  int64_t bytes() const { return bytes_; }
  bool CanaryIntact() const;
  void Protect();  // from now on a write faults
  void Unprotect();
  bool Reaches(const char* address) const;  // its bytes or its guards
  void Unmap();                             // the memory is no longer there

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

// Gives the calling thread a stack for the handler of signals,
// so that one whose own stack is full is told too.
void UseSignalStack();

// Installs the handler of SIGSEGV and SIGBUS, on any thread, for the rest of the process.
// Both must outlive it.
void InstallFaultHandler(const std::vector<std::unique_ptr<GuardedBuffer>>* buffers, RunNote* note);

// For the allocation functions of the process (allocation.h): one of them returned null.
void NoteRefusedAllocation();

}  // namespace kiln
