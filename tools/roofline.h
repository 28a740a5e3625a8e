// The least time that this machine could need for a program, by what it computes and what it must read.
#pragma once

#include "backends/cpu/measurer.h"
#include "lang/program.h"

namespace kiln::tools {

// The longer of two times: of its operations at the rate of the reference kernel on all cores of the target,
// and of reading as many bytes as its parameters have, once, measured here and now (which takes as long a few
// times). 0 if the rate is not known.
double RooflineSeconds(const Program& program, const CpuMeasurer& measurer);

}  // namespace kiln::tools
