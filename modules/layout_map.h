// Builds the text of a layout for Schedule::TransformLayout.
//
//   LayoutMap(DimNames(2), {"d1/16", "d0", "d1%16"})      "(d0, d1) -> (d1/16, d0, d1%16)"
//
// Nothing is checked here: TransformLayout reports an error if the layout is wrong.
#pragma once

#include <string>
#include <vector>

namespace kiln {

std::vector<std::string> DimNames(size_t count);  // d0, d1, ...
std::string LayoutMap(const std::vector<std::string>& names, const std::vector<std::string>& axes);

}  // namespace kiln
