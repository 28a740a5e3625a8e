// Recognizes files in other formats than MLIR by their first bytes.
#pragma once

#include <optional>
#include <string>

#include "absl/strings/string_view.h"

namespace kiln {

struct FileKind {
  std::string is;    // "an ONNX model"
  std::string hint;  // how to convert it to MLIR
};

// Returns the kind of file that begins with these bytes; nullopt if the format is unknown, for example text.
std::optional<FileKind> KindOf(absl::string_view bytes);

}  // namespace kiln
