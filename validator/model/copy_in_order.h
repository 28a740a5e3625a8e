// Checks which copies the views of a model's plan stand for, without the code that makes the views.
#pragma once

#include "lang/model/model_plan.h"

namespace kiln {

int64_t SizeInBytes(const Program& model, Id buffer);

// True if the view's block copies each element of the part once, and the part lies where the block would write it in
// the whole, or, for a slice, where it reads it.
bool IsCopyInOrder(const Program& model, const ModelView& view);

}  // namespace kiln
