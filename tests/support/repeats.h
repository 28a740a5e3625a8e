// Tells how often a random test repeats its draws: less often in an instrumented build.
#pragma once

namespace kiln {

// True if this build has the address sanitizer.
inline constexpr bool kSanitized = __has_feature(address_sanitizer);

// Returns `count`, or a fifth of it in a build with the address sanitizer: a draw takes up to twenty times as long, and
// fewer draws are enough to find memory errors.
constexpr int Repeats(int count) { return kSanitized ? count / 5 : count; }

}  // namespace kiln
