// The thread pool of compiled code (backends/runner/kiln_pool.h) as bytes, to be linked and handed out.
#pragma once

#include <string>

namespace kiln {

const std::string& PoolObject();  // compiled for the machine that Kiln was built on
const std::string& PoolSource();  // kiln_pool.c

}  // namespace kiln
