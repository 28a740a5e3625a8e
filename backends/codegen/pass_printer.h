// What --print-after-all writes: for each pass a header and what it left, or `(unchanged)`.
//
//   PassPrinter print(options.print_after_all);  // null: prints nothing
//   print("plan", [&] { return ToString(program, plan); });
//
// Texts are compared with that of the pass before. One thread.
#pragma once

#include <ostream>
#include <string>

#include "absl/strings/string_view.h"

namespace kiln {

class PassPrinter {
 public:
  explicit PassPrinter(std::ostream* out) : out_(out) {}

  template <typename Text>
  void operator()(absl::string_view pass, Text text) {
    if (out_ == nullptr) return;
    std::string after = text();
    *out_ << "// ----- " << pass << " -----\n" << (after == before_ ? "(unchanged)\n" : after);
    before_ = std::move(after);
  }

 private:
  std::ostream* out_;
  std::string before_;
};

}  // namespace kiln
