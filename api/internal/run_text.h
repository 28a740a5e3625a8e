// Makes the text by which databases identify a search: a command line.
#pragma once

#include <string>

#include "api/internal/input.h"
#include "api/tuning.h"

namespace kiln::api {

// Returns the command line of `kiln tune` with these settings, without --db, the options for outputs, and options that
// have their default (except --trials and --seed). Paths are absolute. A text that is not a file is identified by its
// digest. Databases store this text and find runs by it, so it must not change.
std::string RunText(const TuneSettings& settings, const Input& input);

}  // namespace kiln::api
