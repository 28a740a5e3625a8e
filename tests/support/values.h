// Converts between the bytes of a buffer and a vector of numbers, for tests.
#pragma once

#include <cstring>
#include <string>
#include <vector>

namespace kiln {

template <typename T>
std::string BytesOfValues(const std::vector<T>& values) {
  return std::string(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T));
}

template <typename T>
std::vector<T> ValuesOf(const std::string& bytes) {
  std::vector<T> values(bytes.size() / sizeof(T));
  std::memcpy(values.data(), bytes.data(), bytes.size());
  return values;
}

}  // namespace kiln
