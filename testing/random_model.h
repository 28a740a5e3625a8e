// Random small models: several tasks, residual sums, concatenations, constants that tasks share or that are computed from others, several results, and
// sometimes an assertion.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "lang/program/program.h"

namespace kiln {

// The same seed gives the same model. Constants have no bytes: they are parameters.
Program RandomModel(uint64_t seed);

// The bytes of each input and constant of a model of f32, in order: small whole numbers, for which sums are exact.
std::vector<std::string> RandomModelInputs(const Program& model, uint64_t seed);

}  // namespace kiln
