#include "backends/workers/guard.h"

#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>

#include "backends/workers/heap_guard.h"

namespace kiln {
namespace {

constexpr int64_t kAlignment = 64;
constexpr int64_t kMinFrontCanary = 64;
constexpr int64_t kHugePage = 2 << 20;
// The pattern around guarded memory. It is a NaN in every float type, so that reading it is noticed too.
constexpr uint16_t kCanary = 0x7fff;

int64_t RoundUp(int64_t value, int64_t multiple) { return (value + multiple - 1) / multiple * multiple; }

char CanaryAt(const char* at) {
  return static_cast<char>(reinterpret_cast<uintptr_t>(at) % 2 == 0 ? kCanary & 0xff : kCanary >> 8);
}

void FillCanary(char* begin, const char* end) {
  for (; begin != end; ++begin) *begin = CanaryAt(begin);
}

bool AllCanary(const char* begin, const char* end) {
  return std::all_of(begin, end, [](const char& byte) { return byte == CanaryAt(&byte); });
}

const std::vector<std::unique_ptr<GuardedBuffer>>* g_buffers = nullptr;
RunNote* g_note = nullptr;

}  // namespace

class FaultHandler {
 public:
  // The signal handler: records the address of a fault, and the parameter or temporary whose memory or guards contain
  // it. Then lets the fault end the process. Only the first thread that faults is recorded; others wait.
  static void Handle(int signal_number, siginfo_t* info, void*) {
    static std::atomic_flag telling = ATOMIC_FLAG_INIT;
    while (telling.test_and_set()) pause();
    const char* address = static_cast<const char*>(info->si_addr);
    g_note->address = reinterpret_cast<uint64_t>(address);
    g_note->fault = FaultKind::kElsewhere;
    for (const auto& buffer : *g_buffers) {
      if (buffer->Reaches(address)) Describe(*buffer, address);
    }
    if (const GuardedBuffer* temporary = GuardedAt(address)) Describe(*temporary, address);
    signal(signal_number, SIG_DFL);
  }

 private:
  static void Describe(const GuardedBuffer& buffer, const char* address) {
    const char* end = buffer.data_ + buffer.bytes_;
    const FaultKind kind = address >= end           ? FaultKind::kPastEnd
                           : address < buffer.data_ ? FaultKind::kBeforeStart
                                                    : FaultKind::kReadOnly;
    g_note->param = buffer.param_;
    g_note->offset = address - (kind == FaultKind::kPastEnd ? end : buffer.data_);
    g_note->fault = kind;
  }
};

std::unique_ptr<GuardedBuffer> GuardedBuffer::Make(int param, int64_t bytes) {
  const int64_t page = sysconf(_SC_PAGESIZE);
  const int64_t padded = RoundUp(bytes, kAlignment);
  const int64_t accessible = RoundUp(padded + kMinFrontCanary, page);
  const bool huge = padded >= kHugePage;
  const int64_t slack = huge ? kHugePage : 0;
  void* mapping = mmap(nullptr, static_cast<size_t>(accessible + 2 * page + slack), PROT_NONE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (mapping == MAP_FAILED) return nullptr;
  auto buffer = std::make_unique<GuardedBuffer>();
  buffer->param_ = param;
  buffer->bytes_ = bytes;
  buffer->mapping_ = static_cast<char*>(mapping);
  char* end = buffer->mapping_ + page + accessible + slack;
  buffer->last_ = end - (huge ? static_cast<int64_t>(reinterpret_cast<uintptr_t>(end)) % kHugePage : 0);
  buffer->first_ = buffer->last_ - accessible;
  buffer->data_ = buffer->last_ - padded;
  buffer->end_ = buffer->last_ + page;
  if (mprotect(buffer->first_, static_cast<size_t>(accessible), PROT_READ | PROT_WRITE) != 0) return nullptr;
  // Asks for huge pages for large parameters, so that their random availability does not influence how fast a candidate
  // seems.
  if (huge) madvise(buffer->first_, static_cast<size_t>(accessible), MADV_HUGEPAGE);
  FillCanary(buffer->first_, buffer->data_);
  FillCanary(buffer->data_ + bytes, buffer->last_);
  return buffer;
}

bool GuardedBuffer::CanaryIntact() const {
  return AllCanary(first_, data_) && AllCanary(data_ + bytes_, last_);
}

void GuardedBuffer::Protect() { mprotect(first_, static_cast<size_t>(last_ - first_), PROT_READ); }

void GuardedBuffer::Unprotect() {
  mprotect(first_, static_cast<size_t>(last_ - first_), PROT_READ | PROT_WRITE);
}

bool GuardedBuffer::Reaches(const char* address) const { return address >= mapping_ && address < end_; }

void GuardedBuffer::Unmap() { munmap(mapping_, static_cast<size_t>(end_ - mapping_)); }

void NoteRefusedAllocation() {
  if (g_note != nullptr) g_note->allocation_refused = true;
}

void UseSignalStack() {
  constexpr size_t kBytes = 64 << 10;
  stack_t stack = {};
  stack.ss_sp = mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  stack.ss_size = kBytes;
  if (stack.ss_sp != MAP_FAILED) sigaltstack(&stack, nullptr);
}

void InstallFaultHandler(const std::vector<std::unique_ptr<GuardedBuffer>>* buffers, RunNote* note) {
  g_buffers = buffers;
  g_note = note;
  UseSignalStack();
  struct sigaction action = {};
  action.sa_sigaction = FaultHandler::Handle;
  action.sa_flags = SA_SIGINFO | SA_ONSTACK;
  sigaction(SIGSEGV, &action, nullptr);
  sigaction(SIGBUS, &action, nullptr);
}

}  // namespace kiln
