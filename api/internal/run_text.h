// What a run is known by.
#pragma once

#include <string>

#include "api/internal/input.h"
#include "api/tuning.h"

namespace kiln::api {

// The command line of `kiln tune` that says the same: everything but where results go. A path is the same
// however it is written; a text is known by its digest. Databases keep it, and runs are found again by it: it
// must not change.
std::string RunText(const TuneSettings& settings, const Input& input);

}  // namespace kiln::api
