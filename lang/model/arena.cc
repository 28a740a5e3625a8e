#include "lang/model/arena.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "absl/algorithm/container.h"
#include "lang/base/random.h"

namespace kiln {
namespace {

// Limits how many orders are tried: at most kMostTries, and so many that they compare two lifetimes at most kWork times
// in all, but at least kLeastTries.
constexpr int64_t kWork = 40'000'000, kLeastTries = 32, kMostTries = 20'000;
constexpr int64_t kTriesOfAStart = 300;  // then the search begins anew, by size and by first call in turn

bool Meet(const Lifetime& a, const Lifetime& b) { return a.first <= b.last && b.first <= a.last; }

// Places the lifetimes one after the other in the given order, each at the lowest offset that is free while it is
// alive.
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

// Changes an order of placing at random. Moves a random one of the lifetimes that end at the top of the arena to an
// earlier place, or leaves it. With probability 0.3, swaps two random lifetimes, too.
void MoveTopForward(absl::Span<const Lifetime> lifetimes, const Arena& arena, Dice& dice,
                    std::vector<int>& order) {
  std::vector<int64_t> tops;
  for (size_t n = 0; n < order.size(); ++n) {
    if (arena.offsets[order[n]] + RoundUp(lifetimes[order[n]].bytes) == arena.bytes)
      tops.push_back(static_cast<int64_t>(n));
  }
  const int64_t top = tops[dice.Below(std::ssize(tops))];
  std::rotate(order.begin() + dice.Below(top + 1), order.begin() + top, order.begin() + top + 1);
  if (dice.Flip(0.3)) std::swap(order[dice.Below(std::ssize(order))], order[dice.Below(std::ssize(order))]);
}

}  // namespace

Arena PlaceLifetimes(absl::Span<const Lifetime> lifetimes) {
  const int64_t least = MostAlive(lifetimes), count = std::ssize(lifetimes);
  std::vector<int> by_size(count);
  std::iota(by_size.begin(), by_size.end(), 0);
  std::vector<int> by_time = by_size;
  absl::c_sort(by_size, [&](int a, int b) {
    return std::pair(-lifetimes[a].bytes, a) < std::pair(-lifetimes[b].bytes, b);
  });
  absl::c_sort(by_time, [&](int a, int b) {
    return std::pair(lifetimes[a].first, a) < std::pair(lifetimes[b].first, b);
  });
  const int64_t tries =
      std::clamp<int64_t>(kWork / std::max<int64_t>(count * count, 1), kLeastTries, kMostTries);
  RandomDice dice(Engine({0}));
  std::vector<int> order;
  Arena best, current;
  for (int64_t n = 0; n < tries && (n == 0 || best.bytes > least); ++n) {
    const bool starts = n % kTriesOfAStart == 0;
    std::vector<int> other = !starts ? order : n / kTriesOfAStart % 2 == 0 ? by_size : by_time;
    if (!starts) MoveTopForward(lifetimes, current, dice, other);
    Arena arena = PlaceInOrder(lifetimes, other);
    if (!starts && arena.bytes > current.bytes) continue;
    current = std::move(arena);
    order = std::move(other);
    if (n == 0 || current.bytes < best.bytes) best = current;
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
