// Makes random small models: several tasks, convolutions, residual sums, scales and shifts, concatenations of each
// form, stacks and their slices, slices, rows minus their maximum, products of rows with the same weights, clips, masks
// of zeros, variances in f64, constants of the caller and with bytes, which tasks share or which are computed from
// others, several results, and sometimes an assertion.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "lang/program/program.h"

namespace kiln {

// Returns a random model; the same seed gives the same one. All numbers are whole and so small that sums are exact in
// any order.
Program RandomModel(uint64_t seed);

// Draws small whole numbers for a random model. Returns the bytes of each input and each constant of the caller, in
// order.
std::vector<std::string> RandomModelInputs(const Program& model, uint64_t seed);

}  // namespace kiln
