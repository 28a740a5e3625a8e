#include "lang/model/apart.h"

#include "absl/algorithm/container.h"
#include "lang/model/arena.h"

namespace kiln {
namespace {

int64_t PagesFor(int64_t bytes) { return (bytes + kPageBytes - 1) / kPageBytes * kPageBytes; }

// Calls `visit` with each location of an area, once.
template <typename Plan, typename Visit>
void ForEachLocation(Plan& plan, const Visit& visit) {
  for (auto& at : plan.buffers) visit(at);
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
