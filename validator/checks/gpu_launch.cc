#include <algorithm>
#include <array>

#include "absl/strings/str_cat.h"
#include "lang/analysis/legality.h"
#include "lang/analysis/placement.h"
#include "validator/checks/check.h"

namespace kiln {
namespace {

constexpr int64_t kMostBlocks = (int64_t{1} << 31) - 1;

std::optional<std::string> Refuses(const LoopNestSummary& nests, const Target& target) {
  const Program& p = nests.program();
  for (int32_t l = 0; l < static_cast<int32_t>(nests.loops().size()); ++l) {
    if (nests.loops()[l].kind == LoopKind::kParallel && nests.loops()[l].extent > 1)
      return absl::StrCat(LoopText(nests, l), " is parallel; loops for ", target.gpu->name,
                          " are on axes of blocks and threads");
  }
  for (const Buffer& buffer : p.buffers) {
    if (buffer.role == Role::kStatus)
      return absl::StrCat("buffer ", p.Text(buffer.name), " is a status, which kernels cannot return");
  }
  for (Id nest = p.nodes[kRoot].first; nest != kNone; nest = p.nodes[nest].next) {
    std::array<int64_t, 3> sizes = {1, 1, 1};
    for (const NestLoop& loop : nests.loops()) {
      if (!IsBlockAxis(loop.kind) || NestOf(p, loop.node) != nest) continue;
      int64_t& size = sizes[static_cast<int>(loop.kind) - static_cast<int>(LoopKind::kBlockX)];
      size = std::max(size, loop.extent);
    }
    const double blocks =
        static_cast<double>(sizes[0]) * static_cast<double>(sizes[1]) * static_cast<double>(sizes[2]);
    if (blocks <= static_cast<double>(kMostBlocks)) continue;
    return absl::StrCat("the kernel of ", Describe(p, nest), " has ", sizes[0], " * ", sizes[1], " * ",
                        sizes[2], " blocks; a launch has ", kMostBlocks, " at most");
  }
  return std::nullopt;
}

}  // namespace

const Check kGpuLaunchCheck{"gpu-launch", Refuses, IsForGpus};

}  // namespace kiln
