// The least time that this machine could need for a program, by what it computes and what it must read.
#pragma once

#include <string>

#include "api/model.h"
#include "backends/measure/measurer.h"
#include "lang/program/program.h"

namespace kiln::api {

// Of the operations at the rate of the reference kernel (f32 multiply-adds in registers) on all cores of the
// target, and of reading as many bytes as the parameters have, once, measured here and now (which takes as
// long a few times). 0 what is not known.
Roofline RooflineOf(const Program& program, const CpuMeasurer& measurer);

// "74% of the peak (1 core: 249 GFLOP/s of f32)", or "61% of the bandwidth (1 core reads 12.3 GB/s)": the
// bound that is nearer. Empty if it is not known.
std::string ShareText(const Roofline& roofline, double seconds, int cores);

}  // namespace kiln::api
