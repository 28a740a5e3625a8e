// Files with outputs of the original, which the outputs of candidates are compared with.
#pragma once

#include <cstdint>
#include <string>

namespace kiln {

// Returns the error message for a failed write to the file; errno gives the reason.
std::string CannotWrite(const std::string& path);
// Opens the file for writing, and empties it. This and the next function return an error message, or "". An empty path
// leaves `file` and `at` unchanged.
std::string OpenToWrite(const std::string& path, int* file);
// Maps the file at `at` for the life of the process. The file must have `bytes` bytes.
std::string MapReference(const std::string& path, int64_t bytes, const char** at);

}  // namespace kiln
