// libFuzzer target for records as JSON lines: records that can be imported can be exported and imported
// again. Errors name line and column.
#include <sstream>

#include "search/database/json_lines.h"
#include "search/database/memory_store.h"
#include "tests/fuzz/parsers/placed.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const auto store = kiln::MakeMemoryStore();
  std::istringstream lines(std::string(reinterpret_cast<const char*>(data), size));
  const auto merged = kiln::ImportJson(*store, lines, "fuzz");
  if (!merged.ok()) {
    kiln::CheckPlaced(merged.status(), "fuzz:");
    return 0;
  }
  std::stringstream exported;
  KILN_CHECK(kiln::ExportJson(*store, exported).ok(), "it is not exported");
  const auto again = kiln::ImportJson(*store, exported, "exported");
  KILN_CHECK(again.ok(), again.status().ToString());
  return 0;
}
