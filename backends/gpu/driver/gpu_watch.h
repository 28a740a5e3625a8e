// Reads the clocks of a GPU and what slows it down from NVIDIA's management library (libnvidia-ml.so.1). The library is
// opened when the program runs, and may be missing. It uses no context, so a fault on the GPU does not spoil it.
//
//   GpuWatch watch(uuid);
//   const GpuState state = watch.Now();
//   if (!state.slowed.empty()) ...
//
// One thread.
#pragma once

#include <string>

namespace kiln {

struct GpuState {
  bool known = false;                     // false: all else is unset
  int clock_mhz = 0, most_clock_mhz = 0;  // of the SMs, now and at most
  int memory_clock_mhz = 0;
  int celsius = 0;
  int used_percent = 0;  // share of the last second, about, in which some kernel ran
  // Why clocks are below what they could be: "too hot", "the board slows it down" or "power cap". Empty if NVIDIA's
  // library names none of these reasons.
  std::string slowed;
  bool hot = false;  // slowed by heat or by the board, so that times are wrong

  // Returns this state as a JSON object; "null" if it is unknown.
  std::string Json() const;
};

class GpuWatch {
 public:
  // Finds the GPU with this uuid, 32 hexadecimal digits without hyphens. If there is none, Now() returns an unknown
  // state.
  explicit GpuWatch(const std::string& uuid);
  GpuState Now() const;

 private:
  void* device_ = nullptr;  // null: unknown
};

}  // namespace kiln
