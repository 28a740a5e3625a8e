#include "search/strategies/strategy.h"

#include "lang/base/unknown_name.h"
#include "search/strategies/strategies.h"

namespace kiln {
namespace {

struct Entry {
  const char* name;
  std::unique_ptr<Strategy> (*make)(const StrategyContext&);
};

#define KILN_ENTRY(name, make, proposes) {name, make},
constexpr Entry kStrategies[] = {KILN_STRATEGIES(KILN_ENTRY)};
#undef KILN_ENTRY

}  // namespace

std::vector<std::string> StrategyNames() {
  std::vector<std::string> names;
  for (const Entry& entry : kStrategies) names.push_back(entry.name);
  return names;
}

absl::Status CheckStrategy(absl::string_view name) {
  for (const Entry& entry : kStrategies) {
    if (name == entry.name) return absl::OkStatus();
  }
  return absl::InvalidArgumentError(UnknownName("strategy", name, StrategyNames()));
}

absl::StatusOr<std::unique_ptr<Strategy>> MakeStrategy(absl::string_view name,
                                                       const StrategyContext& context) {
  for (const Entry& entry : kStrategies) {
    if (name == entry.name) return entry.make(context);
  }
  return CheckStrategy(name);
}

}  // namespace kiln
