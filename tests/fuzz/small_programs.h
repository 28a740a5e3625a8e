// Enumerates every program of a small grammar: one or two blocks over tensors such as 2 x 3, made of maps,
// transposes, reductions, contractions, windows, padding and broadcasts.
#pragma once

#include <vector>

#include "lang/program/program.h"

namespace kiln::fuzz {

std::vector<Program> SmallPrograms();

}  // namespace kiln::fuzz
