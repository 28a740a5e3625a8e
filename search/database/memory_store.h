// A store in memory: the fake for tests of whatever uses a store, with the same contract as the SQLite one
// (the same tests run on both), and nothing left behind.
#pragma once

#include <memory>

#include "search/database/store.h"

namespace kiln {

std::unique_ptr<Store> MakeMemoryStore();

}  // namespace kiln
