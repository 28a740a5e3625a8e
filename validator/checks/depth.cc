#include "absl/strings/str_cat.h"
#include "validator/checks/check.h"

namespace kiln {
namespace {

constexpr int kMostLoops = 60;

std::optional<std::string> Refuses(const Nests& nests, const Target& /*target*/) {
  for (const NestBlock& block : nests.blocks()) {
    if (block.depth > kMostLoops) {
      return absl::StrCat(BlockText(nests, block), " has ", block.depth, " loops around it; ", kMostLoops,
                          " are allowed");
    }
  }
  return std::nullopt;
}

}  // namespace

const Check kDepthCheck{"depth", Refuses};

}  // namespace kiln
