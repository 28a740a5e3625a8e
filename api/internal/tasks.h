// Describes tasks to callers: above all the signatures of their functions.
#pragma once

#include <string>
#include <vector>

#include "api/internal/input.h"
#include "api/model.h"
#include "backends/builder/builder.h"

namespace kiln::api {

std::vector<TaskInfo> TasksOf(const Input& input);
std::vector<LeftOut> LeftOutOf(const Input& input);

// The parameters of the function that an export makes of the program. `arguments`: names in the file, by
// position. `prepared`: what NAME_prepare writes, which stands after them.
std::vector<Parameter> ParametersOf(const Program& program, const std::vector<std::string>& arguments,
                                    const std::vector<PreparedParam>& prepared = {});

}  // namespace kiln::api
