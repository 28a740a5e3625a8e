// Defects that tests plant to see whether the test suite finds them. In usual builds, a condition such as
// KILN_DEFECT("x") is the constant false. In builds with the macro KILN_DEFECTS, PlantDefect makes the conditions of
// one name true at run time.
#pragma once

#include "absl/strings/string_view.h"

namespace kiln {

// Makes the conditions KILN_DEFECT(name) true in this process and those of all other names false; "" makes all false.
// Do not call it while other threads run. It has no effect in builds without defects.
void PlantDefect(absl::string_view name);
bool HasDefects();  // whether this build has the macro KILN_DEFECTS, so that PlantDefect has an effect

namespace internal {
bool IsPlanted(const char* name);
}

#ifdef KILN_DEFECTS
#define KILN_DEFECT(name) (::kiln::internal::IsPlanted(name))
#else
#define KILN_DEFECT(name) (false)
#endif

}  // namespace kiln
