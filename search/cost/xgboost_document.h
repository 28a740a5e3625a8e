// Trees from and to the binary JSON of XGBoost 1.7, which it saves and loads boosters as.
//
// Only documents that this function wrote, from a Forest that was checked, are given to the library to load:
// its own loader trusts every index. Only what the library wrote just now is read.
#pragma once

#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "search/cost/forest.h"

namespace kiln {

std::string ToXgboost(const Forest& forest, int dim);
// kInternal: it is not what the library writes.
absl::StatusOr<Forest> FromXgboost(absl::string_view document, int dim);

}  // namespace kiln
