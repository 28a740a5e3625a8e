// Libraries of this machine that compute what a task does, timed beside its programs.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "api/tuning.h"
#include "backends/builder/pool.h"
#include "backends/runner/runner.h"
#include "lang/program/program.h"

namespace kiln::api {

// Those in `folders`, or where the loader looks, become peers of the request, with their names: each is run
// once, and compared as the request says. Why one that is there is left out comes to `left_out`.
std::vector<std::string> AddLibraries(const Program& task, const std::vector<std::string>& folders,
                                      const std::string& runner, RunRequest* request,
                                      std::vector<std::pair<std::string, std::string>>* left_out);

// For a program that takes `seconds` and is known to be right: in turns with each library that is installed,
// for about a second. Empty where the task is no product of matrices, no library is installed, or a run takes
// more than 0.1 s, which `kiln bench` is for.
struct LibraryQuestion {
  const Program* task = nullptr;
  const Program* scheduled = nullptr;
  double seconds = 0;
  int threads = 1;
  bool contract = true, cold = false;
  std::string runner = {};  // path; empty: where FindRunner looks
};
absl::StatusOr<std::vector<LibraryRatio>> BesideLibraries(const LibraryQuestion& question,
                                                          BuilderPool& builders);

}  // namespace kiln::api
