// Files of outputs: of the original, with which those of candidates are compared.
#pragma once

#include <cstdint>
#include <string>

namespace kiln {

// What is wrong, and what to do, where a write to the file has failed (errno says why).
std::string CannotWrite(const std::string& path);
// Both return what is wrong, or nothing. An empty path leaves `file` and `at` as they are.
std::string OpenToWrite(const std::string& path, int* file);
// At `at`, for as long as the process lives; the file must have so many bytes.
std::string MapReference(const std::string& path, int64_t bytes, const char** at);

}  // namespace kiln
