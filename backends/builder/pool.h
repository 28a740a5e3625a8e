// Compiles outside of this process, in a few kiln-builder processes that are started once. Each answers one
// request at a time. The compiler may crash, hang or grow without end. That ends its process alone: the
// request is build_failed and says why, and a new process takes the next request. If a builder is killed from
// outside, it is started again, and its request is tried once more.
//
// Neither this header nor its source includes LLVM or MLIR. The destructor stops what is being built, and
// returns when no process is left. If this process is killed, its builders die with it.
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
  std::string builder_path = {};  // of kiln-builder; see FindBuilder
  // One builder for each set of cores; an empty set: any core. Keep them off the cores of timed runs.
  std::vector<std::vector<int>> cores = {{}};
  int cached_results = 256;        // so many of the latest results with a cache key are kept
  std::string object_folder = {};  // of requests that name none; empty: objects are built each time
};

class BuilderPool {
 public:
  // Returns when all builders answer. kFailedPrecondition: one cannot be started, or there is no such core.
  static absl::StatusOr<std::unique_ptr<BuilderPool>> Start(const BuilderPoolOptions& options);
  ~BuilderPool();
  BuilderPool(const BuilderPool&) = delete;
  BuilderPool& operator=(const BuilderPool&) = delete;

  // Requests are begun in the order of submission. The future never throws.
  std::shared_future<BuildResult> Submit(BuildRequest request);

  // Results in the order of requests.
  std::vector<BuildResult> RunAll(std::vector<BuildRequest> requests);

  // Whatever was submitted and has no result yet becomes interrupted, soon.
  // Later requests are built as usual.
  void Interrupt();

  // Of each builder; 0 for one that is not running now.
  std::vector<pid_t> builder_pids() const;

 private:
  class Impl;
  explicit BuilderPool(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

// kiln-builder: beside the running executable, in the folder above it, or where Kiln is installed.
// kFailedPrecondition: it is in none of these.
absl::StatusOr<std::string> FindBuilder();

}  // namespace kiln
