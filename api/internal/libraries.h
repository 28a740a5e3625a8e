// Finds libraries on this machine that compute the same as a task, and times them beside its programs.
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

// Adds the libraries that compute the task as peers to the request. Looks for each in `folders`, then where the loader
// searches. Runs each once, and compares its outputs as the request says. Returns the names of those that are added.
// `left_out` gets those that exist but fail, with the reasons.
std::vector<std::string> AddLibraries(const Program& task, const std::vector<std::string>& folders,
                                      const std::string& runner, RunRequest* request,
                                      std::vector<std::pair<std::string, std::string>>* left_out);

struct LibraryQuestion {
  const Program* task = nullptr;
  const Program* scheduled = nullptr;
  double seconds = 0;
  int threads = 1;
  bool contract = true, cold = false;
  Policies policies = {};
  std::string runner = {};  // path; empty: FindRunner finds it
};
// Times a correct program that takes `seconds`, in turns with each installed library: 20 rounds, or as many as fit in
// about a second. Returns an empty list if the task is not a matrix product, if no library is installed, or if a run
// takes more than 0.1 s (`kiln bench` times those).
absl::StatusOr<std::vector<LibraryRatio>> BesideLibraries(const LibraryQuestion& question,
                                                          BuilderPool& builders);

}  // namespace kiln::api
