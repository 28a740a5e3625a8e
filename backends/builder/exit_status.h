// Exit statuses by which kiln-builder tells BuilderPool (pool.h) why it ended.
#pragma once

namespace kiln {

inline constexpr int kOutOfMemoryExit = 77;  // an allocation beyond the request's limit was refused

}  // namespace kiln
