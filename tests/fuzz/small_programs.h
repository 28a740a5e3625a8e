// Every program of a small grammar: one or two blocks over a 2 by 3 tensor and the like, made of maps,
// transposes, reductions, contractions, windows, padding and broadcasts.
#pragma once

#include <vector>

#include "lang/program/program.h"

namespace kiln::fuzz {

std::vector<Program> SmallPrograms();

}  // namespace kiln::fuzz
