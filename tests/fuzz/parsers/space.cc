// libFuzzer target for space strings: errors of the parser name line and column.
#include "modules/space.h"
#include "tests/fuzz/parsers/placed.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const auto space = kiln::ParseSpace(absl::string_view(reinterpret_cast<const char*>(data), size));
  if (!space.ok()) kiln::CheckPlaced(space.status(), "space:");
  return 0;
}
