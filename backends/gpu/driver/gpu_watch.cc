#include "backends/gpu/driver/gpu_watch.h"

#include <dlfcn.h>

#include <utility>

#include "backends/gpu/driver/json_text.h"

namespace kiln {
namespace {

// Constants of the interface of NVIDIA's management library: kinds of clocks, and bits of the reasons why clocks are
// low.
constexpr unsigned kSmClock = 1, kMemoryClock = 2, kOfGpu = 0;
enum Reason : unsigned long long {  // bits
  kPowerCap = 0x4,
  kHardware = 0x8,
  kWarm = 0x20,
  kHot = 0x40,
  kPowerBrake = 0x80,
};

struct Library {
  int (*init)();
  int (*by_uuid)(const char*, void**);
  int (*clock)(void*, unsigned, unsigned*);
  int (*most_clock)(void*, unsigned, unsigned*);
  int (*temperature)(void*, unsigned, unsigned*);
  int (*used)(void*, unsigned*);  // of two: the GPU, its memory
  int (*reasons)(void*, unsigned long long*);
};

// Opens NVIDIA's management library and finds its functions. Returns null if there is no such library, if it lacks a
// function, or if it does not start.
const Library* Open() {
  static Library library;
  void* const handle = dlopen("libnvidia-ml.so.1", RTLD_NOW);
  if (handle == nullptr) return nullptr;
  const std::pair<const char*, void*> all[] = {
      {"nvmlInit_v2", &library.init},
      {"nvmlDeviceGetHandleByUUID", &library.by_uuid},
      {"nvmlDeviceGetClockInfo", &library.clock},
      {"nvmlDeviceGetMaxClockInfo", &library.most_clock},
      {"nvmlDeviceGetTemperature", &library.temperature},
      {"nvmlDeviceGetUtilizationRates", &library.used},
      {"nvmlDeviceGetCurrentClocksThrottleReasons", &library.reasons}};
  for (const auto& [symbol, place] : all) {
    void* const found = dlsym(handle, symbol);
    if (found == nullptr) return nullptr;
    *static_cast<void**>(place) = found;
  }
  return library.init() == 0 ? &library : nullptr;
}

const Library* TheLibrary() {
  static const Library* const library = Open();
  return library;
}

}  // namespace

GpuWatch::GpuWatch(const std::string& uuid) {
  if (uuid.size() != 32 || TheLibrary() == nullptr) return;
  const std::string name = "GPU-" + uuid.substr(0, 8) + "-" + uuid.substr(8, 4) + "-" + uuid.substr(12, 4) +
                           "-" + uuid.substr(16, 4) + "-" + uuid.substr(20);
  if (TheLibrary()->by_uuid(name.c_str(), &device_) != 0) device_ = nullptr;
}

GpuState GpuWatch::Now() const {
  GpuState state;
  if (device_ == nullptr) return state;
  const Library& library = *TheLibrary();
  const auto number = [&](auto function, unsigned of) {
    unsigned value = 0;
    return function(device_, of, &value) == 0 ? static_cast<int>(value) : 0;
  };
  state.known = true;
  state.clock_mhz = number(library.clock, kSmClock);
  state.most_clock_mhz = number(library.most_clock, kSmClock);
  state.memory_clock_mhz = number(library.clock, kMemoryClock);
  state.celsius = number(library.temperature, kOfGpu);
  unsigned used[2] = {};
  if (library.used(device_, used) == 0) state.used_percent = static_cast<int>(used[0]);
  unsigned long long reasons = 0;
  if (library.reasons(device_, &reasons) != 0) return state;
  state.hot = (reasons & (kHardware | kWarm | kHot | kPowerBrake)) != 0;
  state.slowed = (reasons & (kWarm | kHot)) != 0              ? "too hot"
                 : (reasons & (kHardware | kPowerBrake)) != 0 ? "the board slows it down"
                 : (reasons & kPowerCap) != 0                 ? "power cap"
                                                              : "";
  return state;
}

std::string GpuState::Json() const {
  if (!known) return "null";
  std::string text = "{\"slowed\": " + JsonText(slowed);
  const std::pair<const char*, int> numbers[] = {{"clock_mhz", clock_mhz},
                                                 {"most_clock_mhz", most_clock_mhz},
                                                 {"memory_clock_mhz", memory_clock_mhz},
                                                 {"celsius", celsius},
                                                 {"used_percent", used_percent}};
  for (const auto& [key, value] : numbers) text += std::string(", \"") + key + "\": " + std::to_string(value);
  return text + "}";
}

}  // namespace kiln
