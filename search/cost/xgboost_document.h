// Converts trees to and from the binary JSON in which XGBoost 1.7 saves and loads boosters.
//
// XGBoost's loader trusts every index. So the library only gets documents that ToXgboost wrote from a
// checked Forest, and FromXgboost only reads what the library has just written.
#pragma once

#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "search/cost/forest.h"

namespace kiln {

std::string ToXgboost(const Forest& forest, int dim);
// Returns the trees of a document that XGBoost saved. Returns kInternal if the document is not as the library writes
// it.
absl::StatusOr<Forest> FromXgboost(absl::string_view document, int dim);

}  // namespace kiln
