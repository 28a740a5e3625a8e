// Writes the C texts of a program that is exported for a GPU (gpu_export.h). Private to backends/export.
#pragma once

#include <string>
#include <vector>

#include "backends/export/gpu_export.h"
#include "backends/export/header.h"

namespace kiln {

// Returns the parameters of the exported function NAME that stand between `stream` and `workspace`. Their names differ
// from those that the generated functions use themselves, such as `stream`.
std::vector<HeaderParam> GpuHeaderParams(const Program& program, const GpuProduct& product);

std::string GpuHeaderText(const Program& program, const std::string& name, const GpuProduct& product,
                          const std::string& checked);
// Returns the text of NAME.c: the functions that launch kernels (gpu_calls.c), the cubin, the tables, and the functions
// of NAME.h.
std::string GpuSourceText(const Program& program, const std::string& name, const GpuProduct& product);

// Returns the text of gpu_calls.c, which the build embeds.
const std::string& GpuCallsSource();

}  // namespace kiln
