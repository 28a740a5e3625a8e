// Keeps the results of a long random test: chunks as lines of a file, so that a run can resume, and a summary as JSON.
// Summaries are committed (tests/fuzz/results/).
#pragma once

#include <nlohmann/json.hpp>
#include <string>

namespace kiln {

using Json = nlohmann::ordered_json;

// The files that a long random test writes, and the commit that its summary names.
struct RunFiles {
  std::string results;  // one line of JSON per finished chunk; a restarted run continues after these
  std::string summary;  // one object, written at the end
  std::string commit;   // of the sources, for the summary
};

// Returns the chunks in the results file that had no failure and that this build of the program ran.
std::vector<Json> ReadChunks(const RunFiles& files);
// Appends a line to the results file, if there is one: the fields of `chunk` and "binary", the hash of this program.
void AppendChunk(const RunFiles& files, Json chunk);
// Adds each number in the JSON object `from`, also in objects inside it, to the number with the same key in `to`. A
// number that `to` lacks counts as 0. Ignores lists, texts and other values.
void AddNumbers(const Json& from, Json& to);
// Writes the summary file: the name of the run, commit, date and CPU, and the fields of `found`. Does nothing if
// `files.summary` is empty.
void WriteSummary(const RunFiles& files, const std::string& run, const Json& found);

}  // namespace kiln
