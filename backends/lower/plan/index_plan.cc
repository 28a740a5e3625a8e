#include "backends/lower/plan/index_plan.h"

#include "absl/strings/str_cat.h"

namespace kiln {

std::string StorageText(const IndexPlan& plan, absl::Span<const std::string> names) {
  std::string text;
  for (size_t i = 0; i < plan.buffers.size(); ++i) {
    const BufferPlan& buffer = plan.buffers[i];
    if (!buffer.used()) continue;
    absl::StrAppend(&text, "buffer ", names[i], ": ", buffer.elements, " elements, ",
                    kMemoryNames[static_cast<int>(buffer.place)],
                    HasOffset(buffer.place) ? absl::StrCat(" at ", buffer.offset) : "",
                    buffer.per_iteration ? " per iteration" : "");
    if (buffer.shares != kNone) absl::StrAppend(&text, ", in the memory of ", names[buffer.shares]);
    text += '\n';
  }
  return text;
}

std::string ToString(const Program& program, const IndexPlan& plan) {
  const auto name = [&](Source source) -> std::string {
    if (source.kind == Source::Kind::kMark) return absl::StrCat("mark", source.id);
    return absl::StrCat(program.Text(program.loop(source.id).name), "#", source.id);
  };
  std::vector<std::string> names;
  for (const Buffer& buffer : program.buffers) names.emplace_back(program.Text(buffer.name));
  std::string text = StorageText(plan, names);
  for (size_t i = 0; i < plan.conditions.size(); ++i) {
    absl::StrAppend(&text, "condition ", i, ": 0 <= ", ToString(plan.conditions[i].value, name), " < ",
                    plan.conditions[i].extent, "\n");
  }
  for (size_t node = 0; node < program.nodes.size(); ++node) {
    const auto block = plan.blocks.find(static_cast<Id>(node));
    if (block == plan.blocks.end()) continue;
    absl::StrAppend(&text, "block ", program.Text(program.block(block->first).name), ":");
    for (const IndexSum& dest : block->second.dests) absl::StrAppend(&text, " at ", ToString(dest, name));
    for (const int guard : block->second.guards) absl::StrAppend(&text, " if ", guard);
    absl::StrAppend(&text, "\n");
  }
  return text;
}

}  // namespace kiln
