#include "lang/program/buffer.h"

namespace kiln {
namespace {
constexpr absl::string_view kStorages[] = {"global", "stack", "register", "shared", "warp", "warpgroup"};
}  // namespace

absl::string_view ToString(Storage storage) { return kStorages[static_cast<int>(storage)]; }

Scope ScopeOf(Storage storage) {
  constexpr Owner kOwners[] = {Owner::kGrid,  Owner::kThread, Owner::kThread,
                               Owner::kBlock, Owner::kWarp,   Owner::kWarpgroup};
  return {storage, kOwners[static_cast<int>(storage)]};
}

std::optional<Storage> ParseStorage(absl::string_view text) {
  for (int i = 0; i < 6; ++i) {
    if (kStorages[i] == text) return static_cast<Storage>(i);
  }
  return std::nullopt;
}

}  // namespace kiln
