#include "tools/roofline.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <vector>

#include "lang/analysis/cost.h"
#include "lang/stopwatch.h"

namespace kiln::tools {
namespace {

constexpr int kPasses = 8;

// libc looks for a byte that is not there with the widest loads that the machine has.
double ReadingSeconds(int64_t bytes) {
  const std::vector<char> memory(static_cast<size_t>(bytes), 0);
  double least = std::numeric_limits<double>::infinity();
  for (int pass = 0; pass < kPasses; ++pass) {
    double seconds = 0;
    {
      const Stopwatch watch(&seconds);
      const volatile bool found = std::memchr(memory.data(), 1, memory.size()) != nullptr;
      static_cast<void>(found);
    }
    least = std::min(least, seconds);
  }
  return least;
}

int64_t ParameterBytes(const Program& program) {
  int64_t bytes = 0;
  for (const Id id : program.parameters) {
    const Buffer& buffer = program.buffers[id];
    int64_t elements = 1;
    for (const Extent& extent : program.Dims(buffer.shape)) elements *= extent.max;
    bytes += elements * SizeOf(buffer.dtype);
  }
  return bytes;
}

}  // namespace

double RooflineSeconds(const Program& program, const CpuMeasurer& measurer) {
  const double rate = measurer.ReferenceRate() * measurer.target().cores;
  if (rate <= 0) return 0;
  return std::max(Flops(program) / rate, ReadingSeconds(ParameterBytes(program)) / measurer.target().cores);
}

}  // namespace kiln::tools
