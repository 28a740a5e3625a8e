// Measures a bundle: a folder with requests that were made on another machine.
//
//   bundle.txt      a line for each item: the file of a request, a tab, and a JSON object that describes it. With "-"
//                   for the file the object becomes a line as it is.
//   NUMBER.request  encoded RunRequests (backends/runner/protocol.h)
//
// Each item becomes a line of JSON: what describes it, then `status`, and `detail` if there is one. A good run also has
// `prepare_seconds` and `max_error`, and if it was timed `seconds` (the median), `samples` and `slowdown`. `state`
// (gpu_watch.h) comes last. The first line is the machine: {"item": "machine", "machine": {...}}; the last one says how
// many items were left out for want of time: {"item": "end", "run": N, "left_out": N, "starts": N}. Lines are written
// as results come.
#pragma once

#include <cstdio>
#include <string>

namespace kiln {

// Runs the requests of the bundle, and writes a line of JSON about each to `out`. Begins no request after `seconds`.
// Returns "", or why the bundle cannot be measured. A malformed line of bundle.txt ends the run.
std::string RunBundle(const std::string& folder, double seconds, FILE* out);

}  // namespace kiln
