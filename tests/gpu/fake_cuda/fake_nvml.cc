// A libnvidia-ml.so.1 for tests: reports fixed clocks, temperature and utilization for the GPU of fake_cuda.cc. The
// reasons why clocks are low, a bit mask as in the real library, come from $KILN_FAKE_SLOWED; 0 unless set.
#include <stdlib.h>
#include <string.h>

#define KILN_NVML extern "C" __attribute__((visibility("default"))) int

KILN_NVML nvmlInit_v2() { return 0; }

KILN_NVML nvmlDeviceGetHandleByUUID(const char* uuid, void** device) {
  static char gpu;
  *device = &gpu;
  constexpr int kNotFound = 6;
  return strcmp(uuid, "GPU-656d756c-6174-6564-2067-707520303031") == 0 ? 0 : kNotFound;
}

KILN_NVML nvmlDeviceGetClockInfo(void*, unsigned of, unsigned* mhz) { return *mhz = of == 1 ? 990 : 1000, 0; }
KILN_NVML nvmlDeviceGetMaxClockInfo(void*, unsigned, unsigned* mhz) { return *mhz = 1000, 0; }
KILN_NVML nvmlDeviceGetTemperature(void*, unsigned, unsigned* celsius) { return *celsius = 40, 0; }
KILN_NVML nvmlDeviceGetUtilizationRates(void*, unsigned* used) { return used[0] = used[1] = 0, 0; }
KILN_NVML nvmlDeviceGetCurrentClocksThrottleReasons(void*, unsigned long long* reasons) {
  const char* const slowed = getenv("KILN_FAKE_SLOWED");
  *reasons = slowed == nullptr ? 0 : strtoull(slowed, nullptr, 0);
  return 0;
}
