// Runs functions that can be interrupted and continued, each on a stack of its own. A change of fibers takes no system
// call.
//
//   Fibers fibers;
//   fibers.Start(64, [&](int64_t fiber) { ...; fibers.Yield(); ... });
//   while (...) fibers.Run(3);      // until fiber 3 yields or ends
//
// If a fiber is never continued, the objects of its function are not destroyed. Start forgets all fibers. One thread.
#pragma once

#include <csetjmp>
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
    std::jmp_buf next = {};  // where it continues; one that ended runs the next function from there
    void* stack = nullptr;
    bool begun = false, ended = true;
  };
  void Begin(Fiber& fiber);
  static void Enter(unsigned low, unsigned high);

  std::vector<std::unique_ptr<Fiber>> fibers_;
  std::function<void(int64_t)> function_;
  std::jmp_buf caller_ = {};
  int64_t current_ = 0;
};

}  // namespace kiln
