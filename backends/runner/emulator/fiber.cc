#include "backends/runner/emulator/fiber.h"

#include <sys/mman.h>
#include <ucontext.h>

#include "lang/base/check.h"

namespace kiln {
namespace {

constexpr size_t kStackBytes = size_t{256} << 10;  // the system gives pages when they are used

}  // namespace

Fibers::~Fibers() {
  for (const auto& fiber : fibers_) munmap(fiber->stack, kStackBytes);
}

void Fibers::Start(int64_t count, std::function<void(int64_t)> function) {
  function_ = std::move(function);
  while (std::ssize(fibers_) < count) {
    auto fiber = std::make_unique<Fiber>();
    fiber->stack = mmap(nullptr, kStackBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    KILN_CHECK(fiber->stack != MAP_FAILED, "no memory for the stacks of an emulated block");
    fibers_.push_back(std::move(fiber));
  }
  for (int64_t f = 0; f < count; ++f) {
    Fiber& fiber = *fibers_[f];
    if (!fiber.ended) fiber.begun = false;
    fiber.ended = false;
  }
}

// Starts a fiber: switches to its stack and calls Enter there. Uses makecontext, since setjmp and longjmp cannot begin
// on another stack; later switches do without.
void Fibers::Begin(Fiber& fiber) {
  fiber.begun = true;
  ucontext_t context;
  getcontext(&context);
  context.uc_stack = {.ss_sp = fiber.stack, .ss_flags = 0, .ss_size = kStackBytes};
  context.uc_link = nullptr;
  const auto self = reinterpret_cast<uintptr_t>(this);
  makecontext(&context, reinterpret_cast<void (*)()>(&Enter), 2, static_cast<unsigned>(self),
              static_cast<unsigned>(self >> 32));
  setcontext(&context);
}

void Fibers::Enter(unsigned low, unsigned high) {
  auto* const self = reinterpret_cast<Fibers*>(uintptr_t{high} << 32 | low);
  for (;;) {
    self->function_(self->current_);
    self->fibers_[self->current_]->ended = true;
    self->Yield();
  }
}

void Fibers::Run(int64_t fiber) {
  current_ = fiber;
  Fiber& next = *fibers_[fiber];
  if (_setjmp(caller_) != 0) return;
  if (!next.begun) Begin(next);
  _longjmp(next.next, 1);
}

void Fibers::Yield() {
  if (_setjmp(fibers_[current_]->next) == 0) _longjmp(caller_, 1);
}

}  // namespace kiln
