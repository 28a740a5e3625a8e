// Makes a plan whose arrays share no memory from one whose arrays do. Running both finds arrays that overlap by
// mistake.
#pragma once

#include <vector>

#include "lang/model/model_plan.h"

namespace kiln {

// Returns the plan with each array of the arena, of the weights and of the scratch area at the end of pages of its own,
// between two empty pages. Arrays of the scratch area become arrays of the weights. A buffer that is a part of another
// one (ModelView) stays in that buffer.
//
// Between the end of an array and the page behind it are less than kModelAlignment bytes.
ModelPlan PlanApart(const ModelPlan& plan);

inline constexpr int64_t kPageBytes = 4096;

// Returns the pages of each array in an area, one Location an array, by ascending offset. `apart` is a plan of
// PlanApart.
std::vector<Location> PagesOf(const ModelPlan& apart, Location::Area area);

}  // namespace kiln
