// libFuzzer on space strings.
#include "lang/check.h"
#include "modules/space.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const auto space = kiln::ParseSpace(absl::string_view(reinterpret_cast<const char*>(data), size));
  KILN_CHECK(space.ok() || absl::IsInvalidArgument(space.status()), space.status().ToString());
  return 0;
}
