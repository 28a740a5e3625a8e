// Prints for --print-after-all: for each pass a header and the program after it, or `(unchanged)`.
//
//   PassPrinter print(options.print_after_all);  // null: prints nothing
//   print("plan", [&] { return ToString(program, plan); });
//
// Each text is compared with that of the previous pass. One thread.
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
