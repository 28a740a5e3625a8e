// Records which buffer owns each byte of an area of memory: the buffer whose contents the byte holds, or kNone. For
// check_model_plan.cc.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <utility>

#include "lang/program/program.h"

namespace kiln {

class ByteOwners {
 public:
  explicit ByteOwners(int64_t bytes) { ranges_[0] = {bytes, kNone}; }

  // Records that the bytes from `begin` to before `end` hold the buffer `owner` from now on.
  void Set(int64_t begin, int64_t end, Id owner) {
    Cut(begin);
    Cut(end);
    ranges_.erase(ranges_.lower_bound(begin), ranges_.lower_bound(end));
    ranges_[begin] = {end, owner};
  }

  bool OwnsAll(int64_t begin, int64_t end, Id owner) const {
    auto range = std::prev(ranges_.upper_bound(begin));
    for (; range != ranges_.end() && range->first < end; ++range) {
      if (range->second.second != owner) return false;
    }
    return true;
  }

 private:
  // Splits the range of bytes that contains the byte `at`, so that a range begins there. Does nothing if one begins
  // there already, or beyond the last byte.
  void Cut(int64_t at) {
    const auto range = std::prev(ranges_.upper_bound(at));
    auto& [end, owner] = range->second;
    if (range->first == at || end <= at) return;
    ranges_[at] = {end, owner};
    end = at;
  }

  std::map<int64_t, std::pair<int64_t, Id>>
      ranges_;  // of equal owners, by their first byte: the end and the owner
};

}  // namespace kiln
