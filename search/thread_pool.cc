#include "search/thread_pool.h"

#include <oneapi/tbb/global_control.h>
#include <oneapi/tbb/parallel_for.h>
#include <oneapi/tbb/task_arena.h>

namespace kiln {

// The TBB arena of a pool with a fixed number of threads. The global limit lets TBB run this many threads even if the
// machine has fewer cores.
struct ThreadPool::Arena {
  explicit Arena(int threads)
      : limit(tbb::global_control::max_allowed_parallelism, static_cast<size_t>(threads)), arena(threads) {}
  tbb::global_control limit;
  tbb::task_arena arena;
};

ThreadPool::ThreadPool(int threads)
    : threads_(threads), arena_(threads > 1 ? std::make_unique<Arena>(threads) : nullptr) {}

ThreadPool::~ThreadPool() = default;

void ThreadPool::For(int n, const std::function<void(int, int)>& body) {
  if (arena_ == nullptr || n <= 1) {
    for (int i = 0; i < n; ++i) body(i, 0);
    return;
  }
  arena_->arena.execute([&] {
    tbb::parallel_for(
        0, n, [&](int i) { body(i, tbb::this_task_arena::current_thread_index()); },
        tbb::simple_partitioner());
  });
}

}  // namespace kiln
