// What a long run found, as JSON that is committed (tests/fuzz/results/).
#pragma once

#include <nlohmann/json.hpp>
#include <string>

namespace kiln {

using Json = nlohmann::ordered_json;

// Where a run keeps what it found.
struct RunFiles {
  std::string results;  // a line of JSON for each chunk, appended as it lands: the run goes on after these
  std::string summary;  // one object, written at the end
  std::string commit;   // of the sources, for the summary
};

// The chunks of a file of results that had no failure and were run by this very binary.
std::vector<Json> ReadChunks(const RunFiles& files);
// {"binary": .., "first": .., "failures": .., "seconds": .., and `chunk`}
void AppendChunk(const RunFiles& files, Json chunk);
// Adds numbers of one object, and of objects in it, to those of another.
void AddNumbers(const Json& from, Json& to);
// {"run": .., "commit": .., "date": .., "cpu": .., and `found`}; nothing without a file.
void WriteSummary(const RunFiles& files, const std::string& run, const Json& found);

}  // namespace kiln
