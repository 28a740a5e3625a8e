// libFuzzer on programs as text: what parses prints, and parses again as the same.
#include "lang/check.h"
#include "lang/hash.h"
#include "lang/text.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const absl::string_view text(reinterpret_cast<const char*>(data), size);
  const absl::StatusOr<kiln::Program> program = kiln::ParseProgram(text);
  if (!program.ok()) {
    KILN_CHECK(absl::IsInvalidArgument(program.status()), program.status().ToString());
    return 0;
  }
  const absl::StatusOr<kiln::Program> again = kiln::ParseProgram(kiln::ToString(*program));
  KILN_CHECK(again.ok() && kiln::Equal(*program, *again), again.status().ToString());
  return 0;
}
