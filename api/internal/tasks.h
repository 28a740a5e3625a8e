// Describes tasks for callers, mainly the signatures of their functions.
#pragma once

#include <string>
#include <vector>

#include "api/internal/input.h"
#include "api/model.h"
#include "backends/builder/builder.h"

namespace kiln::api {

std::vector<TaskInfo> TasksOf(const Input& input);
std::vector<LeftOut> LeftOutOf(const Input& input);

// Returns the parameters of the program that the whole file is imported as.
std::vector<Parameter> ParametersOf(const Input& input);

// Returns the parameters of the function that an export makes of the program. `arguments` holds the names that the
// parameters have in the file, by position. `prepared` holds the buffers that NAME_prepare writes; they come last.
std::vector<Parameter> ParametersOf(const Program& program, const std::vector<std::string>& arguments,
                                    const std::vector<PreparedParam>& prepared = {});

}  // namespace kiln::api
