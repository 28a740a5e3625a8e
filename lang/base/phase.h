// What this process is doing, in a word ("import", "training"), for whoever interrupts or watches it. Nothing
// is decided by it.
//
//   const Phase phase("training");  // until the end of the scope; then what it was before
//
// One thread has phases; any may ask for the current one, signal handlers too. Making one never fails.
#pragma once

namespace kiln {

class Phase {
 public:
  explicit Phase(const char* name);  // a literal
  ~Phase();
  Phase(const Phase&) = delete;
  Phase& operator=(const Phase&) = delete;

  static const char* Current();  // "" outside of all

  // Called with the current one at each change from now on.
  static void Watch(void (*changed)(const char* now));

 private:
  const char* const before_;
};

}  // namespace kiln
