// Tells whether a list of a machine's features has a feature. Lists are as in LLVM: "+avx2,+avx512vnni".
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"

namespace kiln {

inline bool HasFeature(const std::string& features, absl::string_view feature) {
  const std::vector<absl::string_view> all = absl::StrSplit(features, ',');
  return std::find(all.begin(), all.end(), absl::StrCat("+", feature)) != all.end();
}

}  // namespace kiln
