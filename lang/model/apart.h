// A plan whose arrays share no memory, to check one whose arrays do.
#pragma once

#include <vector>

#include "lang/model/model_plan.h"

namespace kiln {

// Each array of the arena, of the weights and of the scratch area lies at the end of pages of its own, behind a page
// and before a page that hold nothing. What was in the scratch area is in the weights.
//
// Between the end of an array and the page behind it are less than kModelAlignment bytes.
ModelPlan PlanApart(const ModelPlan& plan);

inline constexpr int64_t kPageBytes = 4096;

// The pages of an area of such a plan that hold arrays, by offset.
std::vector<Location> PagesOf(const ModelPlan& apart, Location::Area area);

}  // namespace kiln
