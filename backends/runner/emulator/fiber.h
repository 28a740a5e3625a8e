// Runs functions that can be interrupted and continued, each on a stack of its own.
//
//   Fibers fibers;
//   fibers.Start(64, [&](int64_t fiber) { ...; fibers.Yield(); ... });
//   while (...) fibers.Run(3);      // until fiber 3 yields or ends
//
// A fiber that is never continued keeps what its function holds. Start forgets all fibers. One thread.
#pragma once

#include <ucontext.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

namespace kiln {

class Fibers {
 public:
  Fibers() = default;
  ~Fibers();
  Fibers(const Fibers&) = delete;
  Fibers& operator=(const Fibers&) = delete;

  void Start(int64_t count, std::function<void(int64_t fiber)> function);
  void Run(int64_t fiber);
  void Yield();  // only within a fiber
  int64_t current() const { return current_; }
  bool has_ended(int64_t fiber) const { return fibers_[fiber]->ended; }

 private:
  struct Fiber {
    ucontext_t context;
    void* stack = nullptr;
    bool ended = false;
  };
  static void Enter(unsigned low, unsigned high);

  std::vector<std::unique_ptr<Fiber>> fibers_;
  std::function<void(int64_t)> function_;
  ucontext_t caller_;
  int64_t current_ = 0;
};

}  // namespace kiln
