// Opens and maps files with the outputs of the original program, with which the outputs of candidates are compared.
#pragma once

#include <cstdint>
#include <string>

namespace kiln {

// Returns the error message for a failed write to the file; errno gives the reason.
std::string CannotWrite(const std::string& path);
// Opens the file for writing, creates it if there is none, empties it, and stores its descriptor in `file`. Returns an
// error message, or "". Does nothing if the path is empty.
std::string OpenToWrite(const std::string& path, int* file);
// Maps the file into memory for the life of the process, and sets `at` to its bytes. The file must have `bytes` bytes.
// Returns an error message, or "". Does nothing if the path is empty.
std::string MapReference(const std::string& path, int64_t bytes, const char** at);

}  // namespace kiln
