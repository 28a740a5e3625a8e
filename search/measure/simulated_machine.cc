#include "search/measure/simulated_machine.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include <boost/random/normal_distribution.hpp>
#include <boost/random/uniform_01.hpp>

#include "absl/strings/str_cat.h"
#include "lang/analysis/loop_nest_summary.h"
#include "lang/base/random.h"
#include "lang/text/hash.h"

namespace kiln {
namespace {

constexpr double kCyclesPerSecond = 3e9;
constexpr double kLineBytes = 64;
enum Purpose : uint64_t { kFate = 1, kQuick, kThorough, kRace };

// An access of a block to a buffer: for each loop around the block, innermost first, the bytes by which one iteration
// moves the access.
struct Touch {
  std::vector<double> steps;
};

struct Work {
  std::vector<NestLoop> loops;  // around the block, innermost first
  std::vector<Touch> touches;
  double operations = 0;
};

Work WorkOf(const LoopNestSummary& nests, const NestBlock& block) {
  Work work;
  const absl::Span<const int32_t> path = nests.path(block);
  for (auto loop = path.rbegin(); loop != path.rend(); ++loop) work.loops.push_back(nests.loops()[*loop]);
  for (const NestAccess& access : nests.accesses(block)) {
    const Buffer& buffer = nests.program().buffers[access.buffer];
    if (buffer.scope.storage == Storage::kRegister) continue;
    Touch touch;
    for (const NestLoop& loop : work.loops) {
      touch.steps.push_back(
          static_cast<double>(std::abs(nests.Stride(access, loop.depth)) * SizeOf(buffer.dtype)));
    }
    work.touches.push_back(std::move(touch));
  }
  work.operations = 1 + static_cast<double>(nests.exprs(block).size());
  return work;
}

// Estimates the bytes that the loops around a block fetch into a cache of `cache_bytes`. The innermost loops whose data
// fit into the cache together fetch their data once. Each loop around these repeats all their fetches.
double Traffic(const Work& work, double cache_bytes) {
  std::vector<double> footprint(work.touches.size(), kLineBytes);
  double repeats = 1, total = 0;
  bool fits = true;
  for (size_t l = 0; l < work.loops.size(); ++l) {
    const double extent = static_cast<double>(work.loops[l].extent);
    std::vector<double> grown = footprint;
    double sum = 0;
    for (size_t t = 0; t < work.touches.size(); ++t) {
      const double step = work.touches[t].steps[l];
      if (step > 0) grown[t] = footprint[t] * std::max(1.0, extent * std::min(1.0, step / kLineBytes));
      sum += grown[t];
    }
    fits = fits && sum <= cache_bytes;
    if (fits) {
      footprint = grown;
    } else {
      repeats *= extent;
    }
  }
  for (const double bytes : footprint) total += bytes;
  return total * repeats;
}

double Cycles(const LoopNestSummary& nests, const NestBlock& block, const Target& target) {
  const Work work = WorkOf(nests, block);
  double instances = 1, parallel = 1, lanes = 1, overhead = 0, straight = 1;
  for (size_t l = work.loops.size(); l-- > 0;) {
    const NestLoop& loop = work.loops[l];
    const double extent = static_cast<double>(loop.extent);
    instances *= extent;
    if (loop.kind == LoopKind::kParallel) parallel *= extent;
    if (loop.kind == LoopKind::kVectorized) {
      const bool contiguous = std::all_of(work.touches.begin(), work.touches.end(),
                                          [&](const Touch& touch) { return touch.steps[l] <= 8; });
      lanes = std::max(
          1.0, contiguous ? std::min(extent, target.vector_bytes / 4.0) : 0.5 * std::min(extent, 2.0));
    }
    if (loop.kind == LoopKind::kUnrolled) straight *= extent;
    if (loop.kind == LoopKind::kSerial || loop.kind == LoopKind::kParallel) overhead += 2 * instances;
  }
  const double too_long = straight > static_cast<double>(target.max_unrolled) ? 4 : 1;
  double cycles = work.operations * instances / lanes * too_long + overhead;
  const std::array<int64_t, 3> sizes = {target.l1_bytes, target.l2_bytes, target.l3_bytes};
  const std::array<double, 3> bytes_per_cycle = {32, 16, 5};
  for (size_t i = 0; i < sizes.size(); ++i) {
    cycles += Traffic(work, static_cast<double>(sizes[i])) / bytes_per_cycle[i];
  }
  return cycles / std::min<double>(parallel, std::max(1, target.cores));
}

uint64_t Low(const Program& program) { return HashOf(program).low; }

}  // namespace

double SimulatedMachine::Seconds(const Program& program) const {
  LoopNestSummary nests;
  nests.Read(program);
  double cycles = 1000;
  for (const NestBlock& block : nests.blocks()) {
    if (block.leaf && !block.prepared) cycles += Cycles(nests, block, target_);
  }
  return cycles / kCyclesPerSecond;
}

absl::string_view SimulatedMachine::Fate(const Program& program) const {
  Engine engine{options_.seed, Low(program), kFate};
  double at = boost::random::uniform_01<double>()(engine);
  const std::pair<double, absl::string_view> fates[] = {{options_.build_failures, outcome::kBuildFailed},
                                                        {options_.crashes, outcome::kCrashed},
                                                        {options_.hangs, outcome::kTimedOut},
                                                        {options_.memory_hogs, outcome::kOutOfMemory},
                                                        {options_.wrong_results, outcome::kWrongResult}};
  for (const auto& [rate, status] : fates) {
    if (at < rate) return status;
    at -= rate;
  }
  return outcome::kOk;
}

MeasureResult SimulatedMachine::Run(const MeasureRequest& request, int samples, uint64_t purpose) const {
  MeasureResult result;
  result.status = std::string(Fate(*request.scheduled));
  if (!result.ok()) {
    result.error = absl::StrCat("simulated: ", result.status);
    return result;
  }
  const double seconds = Seconds(*request.scheduled);
  result.lower_bound = purpose == kQuick && request.best_seconds > 0 && seconds > 2 * request.best_seconds;
  result.verified = true;
  result.flags.in_model = request.in_model;
  Engine engine{options_.seed, Low(*request.scheduled), purpose};
  boost::random::normal_distribution<double> noise(0, options_.noise);
  for (int i = 0; i < samples; ++i) {
    result.samples.push_back(seconds * (1 + std::abs(noise(engine))));
    result.raw_samples.insert(result.raw_samples.end(), {result.samples.back(), 1});
  }
  return result;
}

std::vector<MeasureResult> SimulatedMachine::Measure(absl::Span<const MeasureRequest> requests) {
  std::vector<MeasureResult> results;
  for (const MeasureRequest& request : requests) {
    const int samples = request.thorough ? 5 * options_.samples : options_.samples;
    results.push_back(Run(request, samples, request.thorough ? kThorough : kQuick));
  }
  return results;
}

std::vector<MeasureResult> SimulatedMachine::Race(absl::Span<const MeasureRequest> candidates) {
  std::vector<MeasureResult> results;
  for (const MeasureRequest& candidate : candidates)
    results.push_back(Run(candidate, 5 * options_.samples, kRace));
  return results;
}

}  // namespace kiln
