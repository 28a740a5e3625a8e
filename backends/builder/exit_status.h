// Exit statuses of kiln-builder that its pool understands.
#pragma once

namespace kiln {

inline constexpr int kOutOfMemoryExit = 77;  // an allocation beyond the limit of the request was refused

}  // namespace kiln
