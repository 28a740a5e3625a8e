// Makes the text that identifies a run.
#pragma once

#include <string>

#include "api/internal/input.h"
#include "api/tuning.h"

namespace kiln::api {

// Returns the equivalent command line of `kiln tune`, without the options for outputs. A path has one form,
// however it is written. A text is identified by its digest. Databases store this text and find runs by it,
// so it must not change.
std::string RunText(const TuneSettings& settings, const Input& input);

}  // namespace kiln::api
