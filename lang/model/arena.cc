#include "lang/model/arena.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "absl/algorithm/container.h"
#include "lang/base/random.h"

namespace kiln {
namespace {

constexpr int kOrders = 32;

bool Meet(const Lifetime& a, const Lifetime& b) { return a.first <= b.last && b.first <= a.last; }

// Places each lifetime in the given order at the lowest offset that is free as long as it lives.
Arena PlaceInOrder(absl::Span<const Lifetime> lifetimes, absl::Span<const int> order) {
  Arena arena{.offsets = std::vector<int64_t>(lifetimes.size()), .bytes = 0};
  std::vector<std::pair<int64_t, int>> placed;  // by offset
  for (const int next : order) {
    const int64_t bytes = RoundUp(lifetimes[next].bytes);
    int64_t offset = 0;
    for (const auto& [begin, other] : placed) {
      if (!Meet(lifetimes[next], lifetimes[other])) continue;
      if (offset + bytes <= begin) break;
      offset = std::max(offset, begin + RoundUp(lifetimes[other].bytes));
    }
    arena.offsets[next] = offset;
    arena.bytes = std::max(arena.bytes, offset + bytes);
    placed.insert(absl::c_lower_bound(placed, std::pair(offset, next)), {offset, next});
  }
  return arena;
}

}  // namespace

Arena PlaceLifetimes(absl::Span<const Lifetime> lifetimes) {
  std::vector<int> order(lifetimes.size());
  std::iota(order.begin(), order.end(), 0);
  absl::c_sort(order, [&](int a, int b) {
    return std::pair(-lifetimes[a].bytes, a) < std::pair(-lifetimes[b].bytes, b);
  });
  const int64_t least = MostAlive(lifetimes);
  Arena best = PlaceInOrder(lifetimes, order);
  RandomDice dice(Engine({0}));
  for (int tries = 1; tries < kOrders && best.bytes > least; ++tries) {
    // Exchanges neighbors at random, so that large ones stay in front.
    std::vector<int> other = order;
    for (size_t i = 1; i < other.size(); ++i) {
      if (dice.Flip(0.5)) std::swap(other[i - 1], other[i]);
    }
    if (Arena arena = PlaceInOrder(lifetimes, other); arena.bytes < best.bytes) {
      best = std::move(arena);
      order = std::move(other);
    }
  }
  return best;
}

int64_t MostAlive(absl::Span<const Lifetime> lifetimes) {
  int end = 0;
  for (const Lifetime& lifetime : lifetimes) end = std::max(end, lifetime.last + 1);
  std::vector<int64_t> change(static_cast<size_t>(end) + 1);
  for (const Lifetime& lifetime : lifetimes) {
    change[lifetime.first] += RoundUp(lifetime.bytes);
    change[lifetime.last + 1] -= RoundUp(lifetime.bytes);
  }
  int64_t alive = 0, most = 0;
  for (const int64_t by : change) most = std::max(most, alive += by);
  return most;
}

}  // namespace kiln
