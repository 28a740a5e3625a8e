#include "validator/checks/check.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "lang/analysis/instances.h"
#include "lang/analysis/loops.h"
#include "lang/analysis/placement.h"

namespace kiln {

std::string LoopText(const LoopNestSummary& nests, int32_t loop) {
  return Describe(nests.program(), nests.loops()[loop].node);
}

std::string BlockText(const LoopNestSummary& nests, const NestBlock& block) {
  return Describe(nests.program(), block.node);
}

std::string BufferText(const LoopNestSummary& nests, Id buffer) {
  return absl::StrCat("buffer ", nests.program().Text(nests.program().buffers[buffer].name));
}

std::optional<std::string> Dependence(const LoopNestSummary& nests, int32_t loop, bool reductions) {
  const int depth = nests.loops()[loop].depth;
  const auto inside = [&](Id buffer) {  // true if each iteration has its own copy of the buffer
    return nests.program().buffers[buffer].role == Role::kTemporary && nests.buffers()[buffer].shared > depth;
  };
  for (const NestBlock& block : nests.blocks()) {
    if (!block.leaf || block.depth <= depth || nests.path(block)[depth] != loop) continue;
    const bool reduces = (block.reduction & LoopNestSummary::Bit(depth)) != 0;
    if (reduces && reductions)
      return absl::StrCat(BlockText(nests, block), " reduces over ", LoopText(nests, loop));
    for (const NestAccess& access : nests.accesses(block)) {
      if (access.writes && ReadsBeside(nests.program(), access.buffer, nests.loops()[loop].node))
        return absl::StrCat("its iterations read of ", BufferText(nests, access.buffer),
                            " what others write");
    }
    if (reduces) continue;
    const bool depends = (block.spatial & LoopNestSummary::Bit(depth)) != 0;
    const bool stores = nests.program().block(block.node).monoid == kNone;
    for (const NestAccess& access : nests.accesses(block)) {
      if (!access.writes || inside(access.buffer)) continue;
      if (depends && MayRepeat(nests.program(), block.node, access.buffer, nests.loops()[loop].node))
        continue;
      return depends ? absl::StrCat("iterations of ", LoopText(nests, loop), " repeat what others ",
                                    stores ? "write" : "reduce", " in ", BlockText(nests, block))
                     : absl::StrCat(BlockText(nests, block), " writes the same elements of ",
                                    BufferText(nests, access.buffer), " in every iteration of ",
                                    LoopText(nests, loop));
    }
  }
  return std::nullopt;
}

int64_t TemporaryBytes(const LoopNestSummary& nests, Id buffer) {
  const Buffer& b = nests.program().buffers[buffer];
  return b.role == Role::kTemporary ? nests.buffers()[buffer].elements * SizeOf(b.dtype) : 0;
}

}  // namespace kiln
