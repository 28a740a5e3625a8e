#include "lang/base/defect.h"

#include <string>

namespace kiln {
namespace {

std::string& Planted() {
  static auto* planted = new std::string();
  return *planted;
}

}  // namespace

void PlantDefect(absl::string_view name) { Planted() = std::string(name); }

bool HasDefects() {
#ifdef KILN_DEFECTS
  return true;
#else
  return false;
#endif
}

namespace internal {
bool IsPlanted(const char* name) { return !Planted().empty() && Planted() == name; }
}  // namespace internal

}  // namespace kiln
