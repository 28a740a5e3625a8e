// The version of the LLVM that Kiln was built with.
#pragma once

#include <string>

namespace kiln {

std::string LlvmVersion();

}  // namespace kiln
