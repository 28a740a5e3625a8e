// Replaces sizes in MLIR texts of tests/inputs/ops by smaller ones, so that the interpreter can run them.
#pragma once

#include <map>
#include <regex>
#include <string>

#include "absl/strings/str_cat.h"

namespace kiln {

// Extents of tensors, each with the smaller one that replaces it. Windows, strides and padding still fit together.
inline const std::map<int, int> kSmaller = {{4096, 40}, {3072, 20}, {1024, 24}, {768, 12}, {512, 16},
                                            {256, 12},  {224, 24},  {230, 30},  {112, 12}, {109, 9},
                                            {58, 12},   {56, 10},   {64, 8}};
// The replacements of extents for grouped convolutions: only those of images, not the numbers of channels.
inline const std::map<int, int> kSmallerGroups = {{58, 14}, {56, 12}, {28, 6}};

inline std::string Shrunken(const std::string& text, const std::map<int, int>& smaller) {
  static const std::regex size(R"(([<x\[ ])(\d+)(?=[x,\]]))");
  std::string result;
  auto rest = text.begin();
  for (std::sregex_iterator at(text.begin(), text.end(), size), end; at != end; ++at) {
    const auto found = smaller.find(std::stoi((*at)[2]));
    result.append(rest, (*at)[2].first);
    result += found == smaller.end() ? (*at)[2].str() : absl::StrCat(found->second);
    rest = (*at)[2].second;
  }
  return result.append(rest, text.end());
}

}  // namespace kiln
