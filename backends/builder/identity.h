// Returns a text that identifies this build of Kiln and LLVM: their versions, and the size and time of the executable's
// file and of the file that contains Kiln's library. It is part of the keys of the object cache, since another build
// may generate other code.
#pragma once

#include <string>

namespace kiln {

std::string BuilderIdentity();

}  // namespace kiln
