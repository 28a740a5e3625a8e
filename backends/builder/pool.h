// Compiles programs outside of this process, in a few kiln-builder processes that are started once. Each answers one
// request at a time. The compiler may crash, hang or use unlimited memory. That ends its process only: the request
// fails with build_failed and the reason, and a new process takes the next request. If a builder is killed by SIGKILL
// from outside, it is started again, and its request is tried once more.
//
// Neither this header nor its source includes LLVM or MLIR. The destructor stops running builds and returns when no
// process is left. If this process is killed, its builders die with it.
//
// All methods may be called from any thread.
#pragma once

#include <sys/types.h>

#include <future>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "backends/builder/builder.h"

namespace kiln {

struct BuilderPoolOptions {
  std::string builder_path = {};  // path of kiln-builder; empty: FindBuilder finds it
  // The cores that each builder may use: one builder is started for each set; an empty set means any core. Keep
  // builders off the cores of timed runs.
  std::vector<std::vector<int>> cores = {{}};
  int cached_results = 256;        // number of latest results with a cache key that are kept
  std::string object_folder = {};  // for requests that name none; empty: no object cache
};

class BuilderPool {
 public:
  // Starts the builder processes and returns when all answer. Errors: those of FindBuilder; kFailedPrecondition if a
  // builder cannot be started, or if a core does not exist.
  static absl::StatusOr<std::unique_ptr<BuilderPool>> Start(const BuilderPoolOptions& options);
  ~BuilderPool();
  BuilderPool(const BuilderPool&) = delete;
  BuilderPool& operator=(const BuilderPool&) = delete;

  // Submits a request to the builders. Requests start in the order of submission. A request with a cache_key among the
  // latest `cached_results` keys gets the result of the earlier request, even if its build failed, but not if it was
  // interrupted. The future never throws.
  std::shared_future<BuildResult> Submit(BuildRequest request);

  // Builds all requests and returns their results in the order of the requests.
  std::vector<BuildResult> RunAll(std::vector<BuildRequest> requests);

  // Ends all submitted requests that have no result yet, with the status kInterrupted. Returns at once; the results
  // follow soon. Later requests are built as usual.
  void Interrupt();

  // Returns the process id of each builder; 0 for a builder that does not run now.
  std::vector<pid_t> builder_pids() const;

 private:
  class Impl;
  explicit BuilderPool(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

// Returns the path of kiln-builder: beside the running executable, in the folder above it, or where Kiln is installed.
// kFailedPrecondition if it is in none of these.
absl::StatusOr<std::string> FindBuilder();

}  // namespace kiln
