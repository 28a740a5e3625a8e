// The text of layouts that modules give to Schedule::TransformLayout.
//
//   LayoutMap(DimNames(2), {"d1/16", "d0", "d1%16"})      "(d0, d1) -> (d1/16, d0, d1%16)"
//
// TransformLayout reports what is wrong with a layout.
#pragma once

#include <string>
#include <vector>

namespace kiln {

std::vector<std::string> DimNames(size_t count);  // d0, d1, ..
std::string LayoutMap(const std::vector<std::string>& names, const std::vector<std::string>& axes);

}  // namespace kiln
