// Opens existing databases, and tells whether this user may change them.
#pragma once

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "search/database/store.h"

namespace kiln::api {

// Returns true if this user may write the database and its folder.
bool MayChange(const std::string& database);

// Opens a database that exists. Returns kNotFound if there is no such file, and does not create it. A database that
// this user may not change is read through a copy.
absl::StatusOr<std::unique_ptr<Store>> OpenExistingStore(const std::string& path);

}  // namespace kiln::api
