// How often a test repeats what it draws.
#pragma once

namespace kiln {

// Whether this build is instrumented.
inline constexpr bool kSanitized = __has_feature(address_sanitizer);

// Returns `count` in the release build, and a fifth of it in the instrumented one. There a draw takes up to twenty
// times as long, and the sanitizers look for faults of memory, which fewer draws show as well.
constexpr int Repeats(int count) { return kSanitized ? count / 5 : count; }

}  // namespace kiln
