// libFuzzer on traces as text: what parses prints, and parses again as the same.
#include "lang/check.h"
#include "trace/text.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const absl::string_view text(reinterpret_cast<const char*>(data), size);
  const absl::StatusOr<kiln::Trace> trace = kiln::ParseTrace(text);
  if (!trace.ok()) {
    KILN_CHECK(absl::IsInvalidArgument(trace.status()), trace.status().ToString());
    return 0;
  }
  const std::string printed = kiln::Print(*trace);
  const absl::StatusOr<kiln::Trace> again = kiln::ParseTrace(printed);
  KILN_CHECK(again.ok() && kiln::Print(*again) == printed, again.status().ToString());
  return 0;
}
