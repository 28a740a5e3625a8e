#include "lang/model/apart.h"

#include "absl/algorithm/container.h"
#include "lang/model/arena.h"

namespace kiln {
namespace {

int64_t PagesFor(int64_t bytes) { return (bytes + kPageBytes - 1) / kPageBytes * kPageBytes; }

// Returns, by buffer, the outermost buffer that contains it by views (ModelView); kNone if it is no part of another.
std::vector<Id> WholesOf(const ModelPlan& plan) {
  std::vector<Id> wholes(plan.buffers.size(), kNone);
  for (const ModelView& view : plan.views) wholes[view.part] = view.whole;
  for (Id& whole : wholes) {
    while (whole != kNone && wholes[whole] != kNone) whole = wholes[whole];
  }
  return wholes;
}

// Calls `visit` once with each location of the plan: of buffers, prepared arrays and workspaces. Leaves out buffers
// that are parts of others.
template <typename Plan, typename Visit>
void ForEachLocation(Plan& plan, const Visit& visit) {
  const std::vector<Id> wholes = WholesOf(plan);
  for (size_t b = 0; b < plan.buffers.size(); ++b) {
    if (wholes[b] == kNone) visit(plan.buffers[b]);
  }
  for (auto& call : plan.calls) {
    for (auto& at : call.prepared) visit(at);
    for (auto& at : call.workspaces) visit(at);
  }
}

}  // namespace

ModelPlan PlanApart(const ModelPlan& plan) {
  ModelPlan apart = plan;
  int64_t arena = kPageBytes, weights = kPageBytes;
  ForEachLocation(apart, [&](Location& at) {
    if (at.area == Location::Area::kNone || at.area == Location::Area::kParameter) return;
    if (at.area == Location::Area::kScratch) at.area = Location::Area::kWeights;
    int64_t& end = at.area == Location::Area::kArena ? arena : weights;
    const int64_t pages = PagesFor(at.bytes);
    at.offset = end + pages - RoundUp(at.bytes);
    end += pages + kPageBytes;
  });
  const std::vector<Id> wholes = WholesOf(plan);
  for (size_t b = 0; b < wholes.size(); ++b) {
    if (wholes[b] != kNone)
      apart.buffers[b].offset += apart.buffers[wholes[b]].offset - plan.buffers[wholes[b]].offset;
  }
  apart.arena_bytes = arena;
  apart.weights_bytes = weights;
  apart.scratch_bytes = 0;
  return apart;
}

std::vector<Location> PagesOf(const ModelPlan& apart, Location::Area area) {
  std::vector<Location> pages;
  ForEachLocation(apart, [&](const Location& at) {
    if (at.area != area) return;
    const int64_t bytes = PagesFor(at.bytes);
    pages.push_back({area, at.offset + RoundUp(at.bytes) - bytes, bytes});
  });
  absl::c_sort(pages, [](const Location& a, const Location& b) { return a.offset < b.offset; });
  return pages;
}

}  // namespace kiln
