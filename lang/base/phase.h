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

  // Calls `changed` with the current phase each time that it changes from now on, in place of an earlier watcher.
  static void Watch(void (*changed)(const char* now));

 private:
  const char* const before_;
};

}  // namespace kiln
