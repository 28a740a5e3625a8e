// Names the current activity of this process in one word ("import", "training"), for code that interrupts or
// watches it. No decision depends on it.
//
//   const Phase phase("training");  // until the end of the scope; then the previous phase again
//
// Only one thread sets phases. Any thread and any signal handler may ask for the current one. Never fails.
#pragma once

namespace kiln {

class Phase {
 public:
  explicit Phase(const char* name);  // `name` must be a literal
  ~Phase();
  Phase(const Phase&) = delete;
  Phase& operator=(const Phase&) = delete;

  static const char* Current();  // "" outside of all phases

  // From now on, calls `changed` at the start and at the end of each phase, with the phase that is current then.
  // Replaces an earlier watcher; null removes it.
  static void Watch(void (*changed)(const char* now));

 private:
  const char* const before_;
};

}  // namespace kiln
