// Imports linalg from a text in memory, which a zero byte follows, without copying the text.
#pragma once

#include "backends/import/import.h"

namespace kiln {

// Imports a text like ImportLinalg, but does not copy it: the text must be followed by a zero byte, as in a file that
// LLVM maps.
absl::StatusOr<Imported> ImportTerminated(absl::string_view text, absl::string_view filename,
                                          const ImportOptions& options);

}  // namespace kiln
