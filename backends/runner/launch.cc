#include "backends/runner/launch.h"

#include <type_traits>

#include "backends/workers/wire.h"

namespace kiln {
namespace {

struct LaunchFields {
  static void Of(auto& visit, auto& value) {
    using T = std::remove_cvref_t<decltype(value)>;
    if constexpr (std::is_same_v<T, LaunchArgument>) {
      visit(value.is_workspace, value.value, value.bytes, value.is_read, value.is_written);
    } else if constexpr (std::is_same_v<T, Launch>) {
      visit(value.kernel, value.blocks, value.threads, value.shared_bytes, value.arguments, value.prepare);
    } else {
      static_assert(std::is_same_v<T, LaunchList>);
      visit(value.parameters, value.workspace_bytes, value.launches);
    }
  }
};

}  // namespace

std::string Encode(const LaunchList& list) { return WireEncode<LaunchFields>(list); }
bool Decode(const std::string& bytes, LaunchList* list) { return WireDecode<LaunchFields>(bytes, list); }

}  // namespace kiln
