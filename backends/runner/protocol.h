// Converts the runner's requests and results to bytes, which travel as frames (backends/workers/frames.h)
// between processes of one machine and one build. The format is never stored.
#pragma once

#include <string>

#include "backends/runner/runner.h"

namespace kiln {

std::string Encode(const RunRequest& request);
std::string Encode(const RunResult& result);

// Return false, and an unspecified value, if the bytes are too short or too long, or contain a number out of
// range.
bool Decode(const std::string& bytes, RunRequest* request);
bool Decode(const std::string& bytes, RunResult* result);

}  // namespace kiln
