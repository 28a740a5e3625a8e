// Declares intrinsics for tests, small enough to match tiles of random programs, and returns their names:
// "tiny.KIND.TYPExSIZE".
#pragma once

#include <string>
#include <vector>

namespace kiln {

std::vector<std::string> TinyIntrinsics();

}  // namespace kiln
