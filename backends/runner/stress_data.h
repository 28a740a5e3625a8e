// Makes sets of stress inputs (FillStress in data.h). All sets of a parameter use the same random numbers, drawn once.
// Each set begins 1021 numbers later than the one before, so that the largest numbers are at other places in rows.
#pragma once

#include <cstring>
#include <map>
#include <string>
#include <tuple>

#include "backends/runner/runner.h"
#include "backends/workers/guard.h"

namespace kiln {

class StressData {
 public:
  StressData(uint64_t seed, int sets) : seed_(seed), sets_(sets) {}

  // True if the parameter gets stress inputs: a float input without given values.
  static bool Fills(const KernelParam& param);
  // Returns the stress inputs of set number `set`, times `scale`, for the parameter at `position`. They live as long as
  // this object.
  const char* Data(int position, const KernelParam& param, int set, double scale);
  // Fills a parameter's buffer with its stress inputs of set number `set`, times `scale`. Makes the buffer writable
  // before and read-only afterwards.
  void Fill(int position, const KernelParam& param, int set, double scale, GuardedBuffer* buffer) {
    buffer->Unprotect();
    std::memcpy(buffer->data(), Data(position, param, set, scale), static_cast<size_t>(buffer->bytes()));
    buffer->Protect();
  }

 private:
  const uint64_t seed_;
  const int sets_;
  std::map<std::tuple<int, std::string, int64_t, double>, std::string> drawn_;
};

}  // namespace kiln
