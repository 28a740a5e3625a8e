// The characters and words of a space string.
#pragma once

#include <cctype>
#include <string>

#include "absl/strings/string_view.h"

namespace kiln {

class SpaceTokens {
 public:
  explicit SpaceTokens(absl::string_view text) : text_(text) {}

  size_t column() const { return at_ + 1; }

  // The next character that is no blank; '\0' at the end.
  char Peek() {
    while (at_ < text_.size() && std::isspace(static_cast<unsigned char>(text_[at_]))) ++at_;
    return at_ < text_.size() ? text_[at_] : '\0';
  }

  bool Take(char c) {
    if (Peek() != c) return false;
    ++at_;
    return true;
  }

  std::string Word() {
    Peek();
    const size_t from = at_;
    while (at_ < text_.size() && (std::isalnum(static_cast<unsigned char>(text_[at_])) || text_[at_] == '-' ||
                                  text_[at_] == ',' || text_[at_] == '_')) {
      ++at_;
    }
    return std::string(text_.substr(from, at_ - from));
  }

 private:
  absl::string_view text_;
  size_t at_ = 0;
};

}  // namespace kiln
