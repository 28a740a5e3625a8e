// The command line and the processes of a long random test (kiln_lower_fuzz, kiln_model_fuzz):
//
//   PROGRAM [--THINGS N] [--seed N] [--processes N] [--results FILE] [--summary FILE] [--commit ID]
//
// Seeds run until so many things ran. Chunks of seeds run in processes of their own, so a crash is reported with its
// seed. With a file of results, each chunk is appended when it is done, and the same command resumes.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace kiln {

inline constexpr size_t kMaxClasses = 20;

// The result of a seed: nothing to run, success, or an error message.
struct SeedResult {
  bool ran = false;
  std::string wrong = {};
  std::array<bool, kMaxClasses> of_class = {};
};

struct ForkedTest {
  std::string program, about;        // its name, and what it does
  std::string things;                // what a seed makes, in the plural
  std::string run;                   // what the summary calls it
  std::vector<const char*> classes;  // whose numbers the summary has; at most kMaxClasses
  double least_share = 0;            // of the seeds that must make something that runs
  SeedResult (*run_seed)(uint64_t seed);
};

// Returns the exit status: 0 if no seed failed and enough of them ran.
int RunForkedChunks(int argc, char** argv, const ForkedTest& test);

}  // namespace kiln
