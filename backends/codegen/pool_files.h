// The thread pool of compiled code (backends/runner/kiln_pool.h) as bytes, for linking and for exports.
#pragma once

#include <string>

namespace kiln {

const std::string& PoolObject();  // compiled for the machine that Kiln was built on
const std::string& PoolSource();  // the source kiln_pool.c

}  // namespace kiln
