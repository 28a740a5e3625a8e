// libFuzzer on records as JSON lines.
#include <sstream>

#include "lang/check.h"
#include "search/database/json_lines.h"
#include "search/database/memory_store.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const auto store = kiln::MakeMemoryStore();
  std::istringstream lines(std::string(reinterpret_cast<const char*>(data), size));
  const auto merged = kiln::ImportJson(*store, lines, "fuzz");
  KILN_CHECK(merged.ok() || absl::IsInvalidArgument(merged.status()), merged.status().ToString());
  return 0;
}
