// Imports a text without a copy of it.
#pragma once

#include "backends/import/import.h"

namespace kiln {

// Does the same as ImportLinalg, for a text that is followed by a zero byte, such as a file that LLVM maps.
absl::StatusOr<Imported> ImportTerminated(absl::string_view text, absl::string_view filename,
                                          const ImportOptions& options);

}  // namespace kiln
