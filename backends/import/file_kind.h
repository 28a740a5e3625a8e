// Recognizes files in other formats than MLIR by their content.
#pragma once

#include <optional>
#include <string>

#include "absl/strings/string_view.h"

namespace kiln {

struct FileKind {
  std::string is;    // "an ONNX model"
  std::string hint;  // how to convert it to MLIR
};

// Returns the kind of a file from its bytes; nullopt if the format is unknown, for example text. The first bytes
// decide, except that a safetensors header must fit the file and that ONNX needs all bytes.
std::optional<FileKind> KindOf(absl::string_view bytes);

}  // namespace kiln
