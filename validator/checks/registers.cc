#include "absl/strings/str_cat.h"
#include "validator/check.h"

namespace kiln {
namespace {

std::optional<std::string> Refuses(const Nests& nests, const Target& /*target*/) {
  for (const NestAccess& access : nests.accesses()) {
    if (nests.program().buffers[access.buffer].scope.storage != Storage::kRegister) continue;
    for (const NestAxis& axis : nests.axes(access)) {
      for (const NestTerm& term : nests.terms(axis)) {
        const LoopKind kind = nests.loops()[term.loop].kind;
        if (kind == LoopKind::kUnrolled || kind == LoopKind::kVectorized) continue;
        return absl::StrCat(BlockText(nests, nests.blocks()[access.block]), " indexes ",
                            BufferText(nests, access.buffer), ", which is in registers, by ",
                            LoopText(nests, term.loop), ", which is ", ToString(kind),
                            "; it must be unrolled or vectorized");
      }
    }
  }
  return std::nullopt;
}

}  // namespace

const Check kRegistersCheck{"registers", Refuses};

}  // namespace kiln
