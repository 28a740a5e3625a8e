// Checks which copies the views of a model's plan stand for, without the code that makes the views.
#pragma once

#include "lang/model/model_plan.h"

namespace kiln {

int64_t SizeInBytes(const Program& model, Id buffer);

// True if the view's block copies each element of the part once to consecutive elements of the whole, in row-major
// order, and ModelView::offset is the byte where they begin. For a slice, the block copies from the whole to the part.
bool IsCopyInOrder(const Program& model, const ModelView& view);

}  // namespace kiln
