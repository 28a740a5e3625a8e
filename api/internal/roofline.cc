#include "api/internal/roofline.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "api/text.h"
#include "lang/analysis/cost.h"
#include "lang/base/stopwatch.h"
#include "lang/program/layout.h"

namespace kiln::api {
namespace {

constexpr int kPasses = 8;
// The most bytes that are read to measure the bandwidth: 256 MiB. They exceed nearly any cache, so more bytes take
// the same time per byte.
constexpr int64_t kMaxRead = int64_t{256} << 20;

// Measures the seconds in which one thread reads `bytes` bytes: the least of 8 passes over one array, so that an array
// that fits a cache is read from there. Reads at most kMaxRead bytes, and scales the time up for more. Returns 0 for no
// bytes. A pass searches for a byte that does not occur (memchr), because libc does so with the widest loads of the
// machine.
double ReadingSeconds(int64_t bytes) {
  const int64_t read = std::min(bytes, kMaxRead);
  if (read <= 0) return 0;
  const std::vector<char> memory(static_cast<size_t>(read), 0);
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
  return least * static_cast<double>(bytes) / static_cast<double>(read);
}

}  // namespace

int64_t ParameterBytes(const Program& program) {
  int64_t bytes = 0;
  for (const Id id : program.parameters) bytes += BytesOf(program, id);
  return bytes;
}

int64_t ConstantBytes(const Program& program) {
  int64_t bytes = 0;
  for (const Id id : program.parameters)
    if (program.buffers[id].role == Role::kConstant) bytes += BytesOf(program, id);
  return bytes;
}

double SecondsPerByte(const Target& target) {
  const int64_t bytes = std::max<int64_t>(2 * target.l3_bytes, 1);
  return ReadingSeconds(bytes) / static_cast<double>(bytes);
}

double Roofline::seconds() const { return flops_per_second > 0 ? std::max(compute, memory) : 0; }

Roofline RooflineOf(const Program& program, const CpuMeasurer& measurer) {
  const int cores = measurer.target().cores;
  Roofline roofline;
  roofline.flops_per_second = measurer.ReferenceRate() * cores;
  if (roofline.flops_per_second > 0) roofline.compute = Flops(program) / roofline.flops_per_second;
  const int64_t bytes = ParameterBytes(program);
  roofline.memory = ReadingSeconds(bytes) / cores;
  if (roofline.memory > 0) roofline.bytes_per_second = static_cast<double>(bytes) / roofline.memory;
  return roofline;
}

std::string ShareText(const Roofline& roofline, double seconds, int cores) {
  if (!(roofline.seconds() > 0) || !(seconds > 0) || !std::isfinite(seconds)) return "";
  if (!roofline.IsCompute() && seconds < roofline.seconds())
    return "its arrays lie in caches, which no share is known of";
  const std::string share = PercentText(roofline.seconds() / seconds);
  const std::string on = CoresText(cores);
  return roofline.IsCompute() ? absl::StrFormat("%s of the peak (%s: %.3g GFLOP/s of f32)", share, on,
                                                roofline.flops_per_second * 1e-9)
                              : absl::StrFormat("%s of the bandwidth (%s: %.3g GB/s when reading its arrays)",
                                                share, on, roofline.bytes_per_second * 1e-9);
}

}  // namespace kiln::api
