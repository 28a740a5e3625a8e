#include <algorithm>
#include <bit>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "lang/analysis/access.h"
#include "lang/analysis/bindings.h"
#include "lang/analysis/dataflow.h"
#include "modules/gpu/gpu.h"

namespace kiln {
namespace {

constexpr int64_t kWordBytes = 4;  // width of a bank of shared memory

// Returns the map that cuts the last dimension into panels; for two dimensions: "(d0, d1) -> (d1/WIDTH, d0, d1%WIDTH)".
std::string Panels(int dims, absl::string_view width) {
  std::vector<std::string> names;
  for (int d = 0; d < dims; ++d) names.push_back(absl::StrCat("d", d));
  std::vector<std::string> axes = names;
  axes.insert(axes.begin(), absl::StrCat(names.back(), "/", width));
  absl::StrAppend(&axes.back(), "%", width);
  return absl::StrCat("(", absl::StrJoin(names, ", "), ") -> (", absl::StrJoin(axes, ", "), ")");
}

}  // namespace

std::vector<int> LoopsAlongRows(const Program& p, Id block) {
  const std::vector<bool> reduces = Feeds(p, block, IterKind::kReduction);
  std::vector<int> along;
  for (const Id buffer : ReadBuffers(p, block)) {
    const AccessPattern access = AccessOf(p, block, buffer);
    const int loop = access.loops.size() > 1 && access.loops.back().size() == 1 ? access.steps.back() : -1;
    along.push_back(loop >= 0 && reduces[loop] ? loop : -1);
  }
  return along;
}

void LayOutTile(Schedule& s, Block copy, Loop slice) {
  if (!s.ok()) return;
  const Program& p = s.program();
  const int dims = p.buffers[WrittenBuffers(p, s.node(copy))[0]].shape.count;
  const Value drawn = s.SamplePerfectTile(slice, {.parts = 2, .innermost = 0}, "panel");
  s.TransformLayout(copy, -1, Panels(dims, "$0"), {s.Part(drawn, 1)});
}

void LayOutLines(Schedule& s, Block copy) {
  if (!s.ok()) return;
  const Buffer& buffer = s.program().buffers[WrittenBuffers(s.program(), s.node(copy))[0]];
  const int64_t bytes = SizeOf(buffer.dtype), line = kLineBytes / bytes,
                word = std::max(bytes, kWordBytes) / bytes;
  const std::string map = Panels(buffer.shape.count, absl::StrCat(line));
  const auto bits = [](int64_t n) { return static_cast<int8_t>(std::countr_zero(static_cast<uint64_t>(n))); };
  s.TransformLayout(copy, -1, map, Swizzle{.from = bits(line), .to = bits(word), .bits = bits(line / word)});
}

}  // namespace kiln
