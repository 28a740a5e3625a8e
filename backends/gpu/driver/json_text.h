// Writes strings, numbers and lists of numbers as JSON text. Numbers have up to 9 significant digits; those that are
// not finite become null.
#pragma once

#include <cmath>
#include <cstdio>
#include <string>
#include <vector>

namespace kiln {

inline std::string JsonText(const std::string& text) {
  std::string out = "\"";
  for (const char c : text) {
    const auto code = static_cast<unsigned char>(c);
    char escaped[8];
    if (c == '"' || c == '\\') {
      out += {'\\', c};
    } else if (code < 0x20) {
      snprintf(escaped, sizeof escaped, "\\u%04x", code);
      out += escaped;
    } else {
      out += c;
    }
  }
  return out + '"';
}

inline std::string JsonNumber(double value) {
  char text[32];
  snprintf(text, sizeof text, "%.9g", value);
  return std::isfinite(value) ? text : "null";
}

inline std::string JsonNumbers(const std::vector<double>& values) {
  std::string out;
  for (const double value : values) out += (out.empty() ? "" : ", ") + JsonNumber(value);
  return "[" + out + "]";
}

}  // namespace kiln
