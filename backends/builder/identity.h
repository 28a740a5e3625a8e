// Names this build of Kiln and of LLVM for keys of the object cache, since another one may generate other code.
#pragma once

#include <string>

namespace kiln {

std::string BuilderIdentity();

}  // namespace kiln
