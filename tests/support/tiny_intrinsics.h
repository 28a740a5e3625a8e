// Declares intrinsics for tests, small enough to match tiles of random programs, and returns their names
// "tiny.KIND.TYPExSIZE", such as tiny.dot.f64x3: the kinds mma (2x2 matrices), dot, axpy, copy and sum (2 to 4
// elements), for i32 and f64.
#pragma once

#include <string>
#include <vector>

namespace kiln {

std::vector<std::string> TinyIntrinsics();

}  // namespace kiln
