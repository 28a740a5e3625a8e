#include "absl/strings/str_cat.h"
#include "validator/checks/check.h"

namespace kiln {
namespace {

constexpr int kMaxLoops = 60;

std::optional<std::string> Refuses(const LoopNestSummary& nests, const Target& /*target*/) {
  for (const NestBlock& block : nests.blocks()) {
    if (block.depth > kMaxLoops) {
      return absl::StrCat(BlockText(nests, block), " has ", block.depth, " loops around it; ", kMaxLoops,
                          " are allowed");
    }
  }
  return std::nullopt;
}

}  // namespace

const Check kDepthCheck{"depth", Refuses};

}  // namespace kiln
