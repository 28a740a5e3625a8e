// The values that a module's option accepts, checked when a space string is parsed.
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <string>

namespace kiln {

// The values that one option accepts. A number, and each number of a list, must lie from `least` to `most`, both
// included. A text must satisfy the predicate `text`. Without a predicate (null), every text is accepted.
struct Allowed {
  int64_t least = std::numeric_limits<int64_t>::min(), most = std::numeric_limits<int64_t>::max();
  std::function<bool(const std::string&)> text = nullptr;
  std::string texts = {};  // describes the accepted texts, for messages
};
inline Allowed Between(int64_t least, int64_t most) { return {.least = least, .most = most}; }
// Accepts numbers from `least` to 2^31 - 1, so that the product of two such numbers fits an int64_t.
inline Allowed From(int64_t least) { return Between(least, std::numeric_limits<int32_t>::max()); }

}  // namespace kiln
