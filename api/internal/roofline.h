// Estimates the least time that this machine needs for a program, from its operations and the bytes of its parameters.
#pragma once

#include <string>

#include "api/model.h"
#include "backends/measure/measurer.h"
#include "lang/program/program.h"

namespace kiln::api {

// Returns the bytes of all parameters of the program. A run reads and writes at least these.
int64_t ParameterBytes(const Program& program);

// Returns two lower bounds of the program's time. The compute bound uses the rate of the reference kernel (f32
// multiply-adds in registers) on all cores of the target. The memory bound is the measured time in which one thread
// reads as many bytes as the parameters have, once, divided by the cores. Measuring reads them 8 times, but at most 256
// MiB each time. A bound is 0 if it is unknown.
Roofline RooflineOf(const Program& program, const CpuMeasurer& measurer);

// Returns the bytes of the program's constants.
int64_t ConstantBytes(const Program& program);

// Returns the seconds in which one thread reads a byte of memory that is in no cache.
double SecondsPerByte(const Target& target);

// Returns what share of its roofline a program reaches that takes `seconds`, such as "74% of the peak (1 core: 249
// GFLOP/s of f32)" or "61% of the bandwidth (1 core: 12.3 GB/s when reading its arrays)". If the program is faster than
// the memory bound, says that its arrays lie in caches. Empty if the share is unknown.
std::string ShareText(const Roofline& roofline, double seconds, int cores);

}  // namespace kiln::api
