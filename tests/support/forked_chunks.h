// The command line and the processes of a long random test (kiln_lower_fuzz, kiln_model_fuzz):
//
//   PROGRAM [--THINGS N] [--seed N] [--processes N] [--results FILE] [--summary FILE] [--commit ID]
//
// Runs seeds in increasing order, in child processes with a chunk of 50 seeds each, until N things, such as programs,
// ran, or until five chunks failed. Chunks that still run then are finished. A crash ends its chunk and is reported
// with its seed. With --results, finished chunks are appended to a file, and the same command resumes: it runs failed
// and missing chunks only. Chunks that another build ran count as missing.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace kiln {

inline constexpr size_t kMaxClasses = 20;

// The result of a seed: whether it made something that ran, an error message ("" if it is right), and to which classes
// of the summary it belongs.
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

// Parses the command line and runs the test. Returns the exit status: 0 if no seed failed and at least the share
// `least_share` of the seeds made something that ran, otherwise 1, or another number if the command line is wrong.
int RunForkedChunks(int argc, char** argv, const ForkedTest& test);

}  // namespace kiln
