// What the options of modules may be.
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <string>

namespace kiln {

// Which values an option may have. A number, and each number of a list, lies from `least` to `most`; a text
// is one that `text` accepts.
struct Allowed {
  int64_t least = std::numeric_limits<int64_t>::min(), most = std::numeric_limits<int64_t>::max();
  std::function<bool(const std::string&)> text = nullptr;
  std::string texts = {};  // what `text` accepts, for messages
};
inline Allowed Between(int64_t least, int64_t most) { return {.least = least, .most = most}; }
// Counts: products of two of them are numbers too.
inline Allowed From(int64_t least) { return Between(least, std::numeric_limits<int32_t>::max()); }

}  // namespace kiln
