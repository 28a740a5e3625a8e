// Intrinsics small enough that tiles of random programs match them: "tiny.KIND.TYPExSIZE".
#pragma once

#include <string>
#include <vector>

namespace kiln {

std::vector<std::string> TinyIntrinsics();

}  // namespace kiln
