// Defects that tests plant, to see that they are found: the conditions KILN_DEFECT("split.stride") are false,
// and cost nothing, but in the instrumented build, where one of them at a time can be made true by its name.
#pragma once

#include "absl/strings/string_view.h"

namespace kiln {

// Makes the conditions of this name true in this process, and all others false; "" for none. Not while other
// threads run. Without effect in builds that have no defects.
void PlantDefect(absl::string_view name);
bool HasDefects();  // whether this build does

namespace internal {
bool IsPlanted(const char* name);
}

#ifdef KILN_DEFECTS
#define KILN_DEFECT(name) (::kiln::internal::IsPlanted(name))
#else
#define KILN_DEFECT(name) (false)
#endif

}  // namespace kiln
