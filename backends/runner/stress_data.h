// Inputs that lie far apart (FillStress in data.h), in sets, of which each begins a step further in the same
// numbers: they are drawn once, and the largest of them come to lie elsewhere in rows.
#pragma once

#include <map>
#include <string>
#include <tuple>

#include "backends/runner/runner.h"
#include "backends/workers/guard.h"

namespace kiln {

class StressData {
 public:
  StressData(uint64_t seed, int sets) : seed_(seed), sets_(sets) {}

  // Whether a parameter is filled: floats of inputs are whose values are not given.
  static bool Fills(const KernelParam& param);
  // `buffer` is protected before and after.
  void Fill(int position, const KernelParam& param, int set, double scale, GuardedBuffer* buffer);

 private:
  const uint64_t seed_;
  const int sets_;
  std::map<std::tuple<int, std::string, int64_t, double>, std::string> drawn_;
};

}  // namespace kiln
