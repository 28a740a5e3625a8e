#include "backends/codegen/version.h"

#include "llvm/Config/llvm-config.h"

namespace kiln {

std::string LlvmVersion() { return LLVM_VERSION_STRING; }

}  // namespace kiln
