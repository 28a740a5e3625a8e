// Files of other forms than MLIR, known by their first bytes.
#pragma once

#include <optional>
#include <string>

#include "absl/strings/string_view.h"

namespace kiln {

struct FileKind {
  std::string is;    // "an ONNX model"
  std::string hint;  // how to make MLIR of it
};

// nullopt: none that is known, such as text.
std::optional<FileKind> KindOf(absl::string_view bytes);

}  // namespace kiln
