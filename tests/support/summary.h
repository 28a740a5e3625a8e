// Writes the results of a long test run as JSON. Summaries are committed (tests/fuzz/results/).
#pragma once

#include <nlohmann/json.hpp>
#include <string>

namespace kiln {

using Json = nlohmann::ordered_json;

// The files of a run.
struct RunFiles {
  std::string results;  // one line of JSON per finished chunk; a restarted run continues after these
  std::string summary;  // one object, written at the end
  std::string commit;   // of the sources, for the summary
};

// Returns the chunks in the results file that had no failure and were run by this very binary.
std::vector<Json> ReadChunks(const RunFiles& files);
// Appends a chunk: {"binary": .., "first": .., "failures": .., "seconds": .., and the fields of `chunk`}.
void AppendChunk(const RunFiles& files, Json chunk);
// Adds the numbers of one object, and of objects inside it, to those of another.
void AddNumbers(const Json& from, Json& to);
// Writes {"run": .., "commit": .., "date": .., "cpu": .., and the fields of `found`}; does nothing without a
// file name.
void WriteSummary(const RunFiles& files, const std::string& run, const Json& found);

}  // namespace kiln
