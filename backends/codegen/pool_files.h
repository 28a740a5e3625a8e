// Returns the thread pool of compiled code (backends/runner/kiln_pool.h), as an object to link and as a source to
// export.
#pragma once

#include <string>

namespace kiln {

const std::string& PoolObject();  // compiled for the machine that Kiln was built on
const std::string& PoolSource();  // the source kiln_pool.c

}  // namespace kiln
