#include "search/features/traffic.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "absl/container/inlined_vector.h"

namespace kiln {
namespace {

// The cache sets into which the touched lines of a buffer fall: the ways that they use in each of these sets, and the
// number of these sets as a fraction of all.
struct Sets {
  double ways = 0, share = 0;
  double mean() const { return ways * share; }
};

Sets Occupied(const Rows& rows, double lines, const Cache& cache) {
  const double bytes = lines * kLineBytes, run = std::ceil(rows.run / kLineBytes) * kLineBytes;
  const auto way = static_cast<int64_t>(cache.way_bytes);
  const double apart =
      rows.count > 1 ? cache.way_bytes / static_cast<double>(std::gcd(static_cast<int64_t>(rows.stride), way))
                     : 1;
  const double inner = run * rows.count, outer = std::max(1.0, bytes / inner);
  const double reached = std::min({cache.way_bytes, bytes, run * std::min(rows.count, apart) * outer});
  return {bytes / reached, reached / cache.way_bytes};
}

// Returns the fraction of a buffer's touched lines that are evicted before they are used again, by lines of other
// buffers or of the buffer itself.
double Lost(absl::Span<const Sets> all, size_t touch, double ways) {
  double base = all[touch].ways;
  for (size_t o = 0; o < all.size(); ++o) base += o == touch ? 0 : all[o].mean();
  if (base > ways) return 1;
  double lost = 0;
  for (size_t o = 0; o < all.size(); ++o)
    if (o != touch && base - all[o].mean() + all[o].ways > ways) lost += all[o].share;
  return std::min(1.0, lost);
}

}  // namespace

Traffic TrafficBeyond(const Footprints& feet, int block, int depth, const Cache& cache) {
  const absl::Span<const Touch> touches = feet.touches(block);
  const double ways = cache.bytes / cache.way_bytes;
  absl::InlinedVector<double, 8> lines;
  for (const Touch& touch : touches) lines.push_back(feet.Lines(touch, depth));
  absl::InlinedVector<Sets, 8> sets(touches.size());
  absl::InlinedVector<int, 8> kept(touches.size(), 0);  // the level at which a touch's lines are reused
  Traffic traffic = {.inside = depth};
  bool all = true;
  for (int level = depth; level >= 0; --level) {
    for (size_t t = 0; t < touches.size(); ++t)
      sets[t] = Occupied(feet.At(touches[t], level), feet.Lines(touches[t], level), cache);
    for (size_t t = 0; t < touches.size(); ++t) {
      const double lost = Lost(sets, t, ways);
      all &= lost == 0;
      if (level == 0) continue;
      // Multiplies the fetched lines by what the next outer loop adds: all lines that are new in an iteration, and in
      // the other iterations the evicted fraction of those touched before.
      const double extent = feet.Instances(block, level - 1) / feet.Instances(block, level);
      const double grown =
          std::min(extent, feet.Lines(touches[t], level - 1) / feet.Lines(touches[t], level));
      lines[t] *= grown + (extent - grown) * lost;
      if (lost > 0) kept[t] = std::max(kept[t], level);
    }
    if (all) traffic.inside = level;
  }
  for (size_t t = 0; t < touches.size(); ++t) {
    const bool stream = feet.At(touches[t], kept[t]).run >= cache.streamed_bytes;
    (stream ? traffic.streamed : traffic.scattered) += lines[t] * kLineBytes;
  }
  return traffic;
}

}  // namespace kiln
