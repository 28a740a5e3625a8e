// Exit statuses of kiln-builder that the pool understands.
#pragma once

namespace kiln {

inline constexpr int kOutOfMemoryExit = 77;  // an allocation beyond the request's limit was refused

}  // namespace kiln
