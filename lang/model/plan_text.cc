#include "lang/model/plan_text.h"

#include <algorithm>
#include <tuple>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "lang/model/plan_calls.h"
#include "lang/program/layout.h"

namespace kiln {
namespace {

std::string NameOf(const Program& model, Id buffer) {
  return std::string(model.Text(model.buffers[buffer].name));
}

// A piece of memory: the offsets of its begin and end, and a text that says what lies there.
using Part = std::tuple<int64_t, int64_t, std::string>;

std::string PartsText(absl::string_view area, int64_t bytes, std::vector<Part> parts) {
  absl::c_sort(parts);
  std::string text = absl::StrCat(area, " ", bytes, " bytes\n");
  for (const auto& [begin, end, what] : parts)
    absl::StrAppend(&text, "  ", begin, " .. ", end, "  ", what, "\n");
  return text;
}

Part PartOf(const Location& at, std::string what) {
  return {at.offset, at.offset + at.bytes, std::move(what)};
}

}  // namespace

std::string CallsText(const Program& model, const ModelPlan& plan, absl::Span<const std::string> tasks) {
  std::string text;
  for (size_t c = 0; c < plan.calls.size(); ++c) {
    const ModelCall& call = plan.calls[c];
    std::vector<std::string> arguments;
    int64_t bytes = 0;
    for (const Id buffer : call.buffers) {
      arguments.push_back(NameOf(model, buffer));
      bytes += BytesOf(model, buffer);
    }
    absl::StrAppend(&text, call.prepares ? "prepare " : "call ", c, ": ", call.foreign < 0 ? "" : "foreign ",
                    tasks[call.task], "(", absl::StrJoin(arguments, ", "), ") bytes ", bytes);
    for (const Location& at : call.workspaces)
      absl::StrAppend(&text, " workspace ", at.bytes, " at ", at.offset);
    text += "\n";
  }
  return text;
}

std::string MemoryText(const Program& model, const ModelPlan& plan) {
  std::vector<Part> arena, weights, scratch;
  for (const auto& [buffer, life] : LifetimesOf(model, plan)) {
    const Location& at = plan.buffers[buffer];
    if (at.area == Location::Area::kWeights) continue;
    (at.area == Location::Area::kScratch ? scratch : arena)
        .push_back(
            PartOf(at, absl::StrCat(NameOf(model, buffer), "  calls ", life.first, " to ", life.last)));
  }
  for (const ModelView& view : plan.views)
    arena.push_back(PartOf(plan.buffers[view.part],
                           absl::StrCat(NameOf(model, view.part), "  part of ", NameOf(model, view.whole))));
  for (size_t b = 0; b < plan.buffers.size(); ++b) {
    if (plan.buffers[b].area == Location::Area::kWeights)
      weights.push_back(PartOf(plan.buffers[b], NameOf(model, static_cast<Id>(b))));
  }
  for (size_t c = 0; c < plan.calls.size(); ++c) {
    const ModelCall& call = plan.calls[c];
    for (const Location& at : call.workspaces)
      (call.prepares ? scratch : arena).push_back(PartOf(at, absl::StrCat("workspace of call ", c)));
    for (const Location& at : call.prepared)
      weights.push_back(PartOf(at, absl::StrCat("prepared for call ", c)));
  }
  return absl::StrCat(PartsText("arena", plan.arena_bytes, std::move(arena)),
                      PartsText("weights", plan.weights_bytes, std::move(weights)),
                      PartsText("scratch of the prepare phase", plan.scratch_bytes, std::move(scratch)));
}

}  // namespace kiln
