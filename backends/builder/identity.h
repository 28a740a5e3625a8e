// Returns a text that differs between builds of Kiln and of LLVM. It is part of the keys of the object cache, since
// another build may generate other code.
#pragma once

#include <string>

namespace kiln {

std::string BuilderIdentity();

}  // namespace kiln
