// Databases that are there already.
#pragma once

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "search/database/store.h"

namespace kiln::api {

// Whether this user may write the database and beside it.
bool MayChange(const std::string& database);

// kNotFound if there is no such file: only a search makes one. One that may not be changed is read through a
// copy.
absl::StatusOr<std::unique_ptr<Store>> OpenExistingStore(const std::string& path);

}  // namespace kiln::api
