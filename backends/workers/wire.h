// Converts values to bytes for another process of the same build: numbers and enumerators as in memory, strings and
// vectors after their lengths, optional values after a flag, structs field by field. A class `Fields` lists the fields
// of each struct by calling visit(value.a, value.b, ...):
//
//   template <typename Visitor>
//   static void Of(Visitor& visit, auto& value);
//
// frames.h sends the bytes.
#pragma once

#include <cstdint>
#include <cstring>
#include <optional>
#include <string>
#include <type_traits>
#include <vector>

#include "absl/strings/string_view.h"

namespace kiln {

template <typename Fields>
class WireWriter {
 public:
  template <typename... T>
  void operator()(const T&... values) {
    (Put(values), ...);
  }
  std::string Take() { return std::move(bytes_); }

 private:
  template <typename T>
  void Put(const T& value) {
    if constexpr (std::is_arithmetic_v<T> || std::is_enum_v<T>) {
      bytes_.append(reinterpret_cast<const char*>(&value), sizeof(value));
    } else {
      Fields::Of(*this, value);
    }
  }
  void Put(const std::string& value) {
    Put(uint64_t{value.size()});
    bytes_ += value;
  }
  template <typename T>
  void Put(const std::vector<T>& values) {
    Put(uint64_t{values.size()});
    for (const T& value : values) Put(value);
  }
  template <typename T>
  void Put(const std::optional<T>& value) {
    Put(value.has_value());
    if (value) Put(*value);
  }

  std::string bytes_;
};

template <typename Fields>
class WireReader {
 public:
  explicit WireReader(absl::string_view bytes) : bytes_(bytes) {}
  template <typename... T>
  void operator()(T&... values) {
    (Get(values), ...);
  }
  bool Done() const { return good_ && at_ == bytes_.size(); }

 private:
  template <typename T>
  void Get(T& value) {
    if constexpr (std::is_same_v<T, bool>) {
      if (Has(1)) value = bytes_[at_++] != 0;
    } else if constexpr (std::is_arithmetic_v<T> || std::is_enum_v<T>) {
      if (!Has(sizeof(value))) return;
      std::memcpy(&value, bytes_.data() + at_, sizeof(value));
      at_ += sizeof(value);
    } else {
      Fields::Of(*this, value);
    }
  }
  bool Has(uint64_t count) { return good_ = good_ && count <= bytes_.size() - at_; }
  void Get(std::string& value) {
    uint64_t size = 0;
    Get(size);
    if (!Has(size)) return;
    value = std::string(bytes_.substr(at_, size));
    at_ += size;
  }
  template <typename T>
  void Get(std::vector<T>& values) {
    uint64_t size = 0;
    Get(size);
    if (!Has(size)) return;  // since each value has at least one byte
    values.resize(size);
    for (T& value : values) Get(value);
  }
  template <typename T>
  void Get(std::optional<T>& value) {
    bool has = false;
    Get(has);
    if (has) Get(value.emplace());
  }

  absl::string_view bytes_;
  size_t at_ = 0;
  bool good_ = true;
};

template <typename Fields, typename T>
std::string WireEncode(const T& value) {
  WireWriter<Fields> writer;
  writer(value);
  return writer.Take();
}

// Converts bytes of WireEncode back to a value. Returns false, and an unspecified value, if the bytes are too short or
// too long.
template <typename Fields, typename T>
bool WireDecode(absl::string_view bytes, T* value) {
  WireReader<Fields> reader(bytes);
  reader(*value);
  return reader.Done();
}

}  // namespace kiln
