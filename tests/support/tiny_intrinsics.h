// Declares intrinsics that are small enough to match tiles of random programs: "tiny.KIND.TYPExSIZE".
#pragma once

#include <string>
#include <vector>

namespace kiln {

std::vector<std::string> TinyIntrinsics();

}  // namespace kiln
