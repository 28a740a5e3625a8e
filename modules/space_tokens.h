// Splits a space string into words and punctuation, and tracks the line and column.
#pragma once

#include <algorithm>
#include <cctype>
#include <string>

#include "absl/strings/ascii.h"
#include "absl/strings/string_view.h"

namespace kiln {

class SpaceTokens {
 public:
  explicit SpaceTokens(absl::string_view text) : text_(text) {}

  // Return the line and the column of the next character, counted from 1.
  size_t line() const { return 1 + std::count(text_.begin(), text_.begin() + at_, '\n'); }
  size_t column() const { return 1 + at_ - (text_.substr(0, at_).rfind('\n') + 1); }

  // Returns the next character that is not white space, without consuming it; '\0' at the end.
  char Peek() {
    while (at_ < text_.size() && std::isspace(static_cast<unsigned char>(text_[at_]))) ++at_;
    return at_ < text_.size() ? text_[at_] : '\0';
  }

  bool AtEnd() {
    Peek();
    return at_ == text_.size();
  }

  bool Take(char c) {
    if (Peek() != c) return false;
    ++at_;
    return true;
  }

  std::string Word() {
    Peek();
    const size_t from = at_;
    while (at_ < text_.size() &&
           (std::isalnum(static_cast<unsigned char>(text_[at_])) || text_[at_] == '-' || text_[at_] == ',' ||
            text_[at_] == '_' || text_[at_] == '/' || text_[at_] == '.' || text_[at_] == '#')) {
      ++at_;
    }
    return std::string(text_.substr(from, at_ - from));
  }

  // Consumes and returns the text before the next '|' outside of parentheses, or before the end, without white space
  // around it.
  absl::string_view Item() {
    Peek();
    const size_t from = at_;
    for (int depth = 0; at_ < text_.size() && (depth > 0 || text_[at_] != '|'); ++at_)
      depth += (text_[at_] == '(') - (text_[at_] == ')');
    return absl::StripTrailingAsciiWhitespace(text_.substr(from, at_ - from));
  }

 private:
  absl::string_view text_;
  size_t at_ = 0;
};

}  // namespace kiln
