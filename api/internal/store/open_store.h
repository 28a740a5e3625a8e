// Opens existing databases.
#pragma once

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "search/database/store.h"

namespace kiln::api {

// Returns true if this user may write the database and its folder.
bool MayChange(const std::string& database);

// Opens the store. Returns kNotFound if there is no such file: only a search creates one. A database that
// may not be changed is read through a copy.
absl::StatusOr<std::unique_ptr<Store>> OpenExistingStore(const std::string& path);

}  // namespace kiln::api
