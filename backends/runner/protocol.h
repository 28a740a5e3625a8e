// Requests of the runner and their results as bytes, which travel as frames (backends/workers/frames.h)
// between processes of one machine and one build. Not a format to keep: nothing of it is ever stored.
#pragma once

#include <string>

#include "backends/runner/runner.h"

namespace kiln {

std::string Encode(const RunRequest& request);
std::string Encode(const RunResult& result);

// False, and an unspecified value, when the bytes are cut short, too long, or name a number out of range.
bool Decode(const std::string& bytes, RunRequest* request);
bool Decode(const std::string& bytes, RunResult* result);

}  // namespace kiln
