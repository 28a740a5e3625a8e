// libFuzzer target for traces as text: a trace that parses prints, and parses again to a trace that prints the
// same. Errors name line and column.
#include "tests/fuzz/parsers/placed.h"
#include "trace/text.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const absl::string_view text(reinterpret_cast<const char*>(data), size);
  const absl::StatusOr<kiln::Trace> trace = kiln::ParseTrace(text);
  if (!trace.ok()) {
    kiln::CheckPlaced(trace.status(), "trace:");
    return 0;
  }
  const std::string printed = kiln::Print(*trace);
  const absl::StatusOr<kiln::Trace> again = kiln::ParseTrace(printed);
  KILN_CHECK(again.ok(), again.status().ToString());
  KILN_CHECK(kiln::Print(*again) == printed, printed);
  return 0;
}
