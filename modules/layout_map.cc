#include "modules/layout_map.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace kiln {

std::vector<std::string> DimNames(size_t count) {
  std::vector<std::string> names;
  for (size_t d = 0; d < count; ++d) names.push_back(absl::StrCat("d", d));
  return names;
}

std::string LayoutMap(const std::vector<std::string>& names, const std::vector<std::string>& axes) {
  return absl::StrCat("(", absl::StrJoin(names, ", "), ") -> (", absl::StrJoin(axes, ", "), ")");
}

}  // namespace kiln
