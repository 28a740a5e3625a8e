// libFuzzer target for programs as text: a program that parses prints, and parses again to the same program.
// Errors name line and column.
#include "lang/text/hash.h"
#include "lang/text/text.h"
#include "tests/fuzz/parsers/placed.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const absl::string_view text(reinterpret_cast<const char*>(data), size);
  const absl::StatusOr<kiln::Program> program = kiln::ParseProgram(text);
  if (!program.ok()) {
    kiln::CheckPlaced(program.status(), "");
    return 0;
  }
  const std::string printed = kiln::ToString(*program);
  const absl::StatusOr<kiln::Program> again = kiln::ParseProgram(printed);
  KILN_CHECK(again.ok(), again.status().ToString());
  KILN_CHECK(kiln::Equal(*program, *again) && kiln::ToString(*again) == printed, printed);
  return 0;
}
