// The exit status by which kiln-builder tells BuilderPool (pool.h) that it ran out of memory.
#pragma once

namespace kiln {

inline constexpr int kOutOfMemoryExit = 77;  // an allocation beyond the request's limit was refused

}  // namespace kiln
