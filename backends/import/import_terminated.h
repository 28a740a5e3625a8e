// Imports a text without a copy of it.
#pragma once

#include "backends/import/import.h"

namespace kiln {

// As ImportLinalg, for a text behind which a zero byte lies, as files that LLVM maps.
absl::StatusOr<Imported> ImportTerminated(absl::string_view text, absl::string_view filename,
                                          const ImportOptions& options);

}  // namespace kiln
