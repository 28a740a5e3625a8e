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

constexpr int64_t kWordBytes = 4;  // of a bank of shared memory

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
  std::vector<std::string> names, axes;
  for (int d = 0; d < dims; ++d) names.push_back(absl::StrCat("d", d));
  axes = names;
  axes.insert(axes.begin(), absl::StrCat(names.back(), "/$0"));
  absl::StrAppend(&axes.back(), "%$0");
  const std::string map =
      absl::StrCat("(", absl::StrJoin(names, ", "), ") -> (", absl::StrJoin(axes, ", "), ")");
  s.TransformLayout(copy, -1, map, {s.Part(drawn, 1)});
}

void LayOutLines(Schedule& s, Block copy) {
  if (!s.ok()) return;
  const Buffer& buffer = s.program().buffers[WrittenBuffers(s.program(), s.node(copy))[0]];
  const int64_t bytes = SizeOf(buffer.dtype), line = kLineBytes / bytes,
                word = std::max(bytes, kWordBytes) / bytes;
  std::vector<std::string> names, axes;
  for (int d = 0; d < buffer.shape.count; ++d) names.push_back(absl::StrCat("d", d));
  axes = names;
  axes.insert(axes.begin(), absl::StrCat(names.back(), "/", line));
  absl::StrAppend(&axes.back(), "%", line);
  const std::string map =
      absl::StrCat("(", absl::StrJoin(names, ", "), ") -> (", absl::StrJoin(axes, ", "), ")");
  const auto bits = [](int64_t n) { return static_cast<int8_t>(std::countr_zero(static_cast<uint64_t>(n))); };
  s.TransformLayout(copy, -1, map, Swizzle{.from = bits(line), .to = bits(word), .bits = bits(line / word)});
}

}  // namespace kiln
