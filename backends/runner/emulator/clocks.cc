#include "backends/runner/emulator/clocks.h"

#include <algorithm>
#include <set>

namespace kiln {
namespace {

constexpr uint64_t kWord = 4;

// Calls visit(word, bytes) for each word of 4 bytes that overlaps the bytes first .. first + count - 1. Each set bit of
// `bytes` is a byte of the word within that range. Stops if visit returns false.
template <typename Visit>
void EachWord(uint64_t first, int64_t count, const Visit& visit) {
  const uint64_t end = first + static_cast<uint64_t>(count);
  for (uint64_t word = first / kWord; word * kWord < end; ++word) {
    uint8_t bytes = 0;
    for (uint64_t b = 0; b < kWord; ++b) {
      const uint64_t at = word * kWord + b;
      if (at >= first && at < end) bytes |= static_cast<uint8_t>(1u << b);
    }
    if (!visit(word, bytes)) return;
  }
}

}  // namespace

Clocks::Clocks(int64_t threads)
    : now_(threads, 1), seen_(threads, std::make_shared<const std::vector<uint32_t>>(2 * threads)) {}

void Clocks::Join(absl::Span<const int64_t> threads) {
  std::vector<uint32_t> all(2 * now_.size());
  std::set<const std::vector<uint32_t>*> added;
  for (const int64_t thread : threads) {
    const std::vector<uint32_t>& seen = *seen_[thread];
    if (added.insert(&seen).second)
      for (size_t i = 0; i < all.size(); ++i) all[i] = std::max(all[i], seen[i]);
  }
  for (const int64_t thread : threads) all[thread] = now_[thread]++;
  const auto shared = std::make_shared<const std::vector<uint32_t>>(std::move(all));
  for (const int64_t thread : threads) seen_[thread] = shared;
}

void Clocks::Wait(int64_t thread, uint32_t group) {
  std::vector<uint32_t> seen = *seen_[thread];
  uint32_t& mine = seen[now_.size() + thread];
  if (mine >= group) return;
  mine = group;
  seen_[thread] = std::make_shared<const std::vector<uint32_t>>(std::move(seen));
}

std::optional<Shadow::Past> Shadow::Access(const Clocks& clocks, int64_t block, Use use, uint64_t first,
                                           int64_t count) {
  const bool copies = use.group != 0;
  const auto who = static_cast<uint32_t>(copies ? clocks.threads() + use.thread : use.thread);
  const uint32_t time = copies ? use.group : clocks.Now(use.thread);
  std::optional<Past> race;
  EachWord(first, count, [&](uint64_t word, uint8_t bytes) {
    Entries& entries = words_[word];
    const auto is_before = [&](const Entry& past) {
      return past.block == block && clocks.IsBefore(past.who, past.time, use.thread);
    };
    for (const Entry& past : entries) {
      if ((past.bytes & bytes) == 0 || !(past.write || use.write) || is_before(past)) continue;
      const bool copy = past.block == block && past.who >= clocks.threads();
      race = Past{past.block, copy ? past.who - clocks.threads() : past.who, past.write, copy};
      return false;
    }
    // Unless this access is an asynchronous copy, removes past accesses that are ordered before it, touch no other
    // bytes, and do not write unless it writes. A later access that races with a removed one races with this one too.
    entries.erase(std::remove_if(entries.begin(), entries.end(),
                                 [&](const Entry& past) {
                                   return (past.bytes & ~bytes) == 0 && (use.write || !past.write) &&
                                          !copies && is_before(past);
                                 }),
                  entries.end());
    entries.push_back({block, who, time, bytes, use.write});
    return true;
  });
  return race;
}

bool Shadow::IsWritten(uint64_t first, int64_t count) const {
  bool written = true;
  EachWord(first, count, [&](uint64_t word, uint8_t bytes) {
    const auto entries = words_.find(word);
    uint8_t open = bytes;
    if (entries != words_.end()) {
      for (const Entry& past : entries->second)
        if (past.write) open &= static_cast<uint8_t>(~past.bytes);
    }
    return written = open == 0;
  });
  return written;
}

}  // namespace kiln
