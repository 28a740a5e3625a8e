// A store in memory, for tests of code that uses a store. It has the same contract as the SQLite store (the
// same tests run on both) and leaves no files.
#pragma once

#include <memory>

#include "search/database/store.h"

namespace kiln {

std::unique_ptr<Store> MakeMemoryStore();

}  // namespace kiln
