#include "backends/runner/profile.h"

#include <time.h>

#include <chrono>

namespace kiln {
namespace {

double Between(const timespec& from, const timespec& to) {
  return static_cast<double>(to.tv_sec - from.tv_sec) + 1e-9 * static_cast<double>(to.tv_nsec - from.tv_nsec);
}

}  // namespace

CallProfile RunProfiled(BoundKernel kernel, int calls, int runs, Deadline give_up) {
  CallProfile profile;
  std::vector<timespec> stamps(static_cast<size_t>(calls) + 1);
  kernel.arguments.push_back(stamps.data());
  do {
    profile.status = kernel.Run();
    if (profile.status != 0) return profile;
    std::vector<double>& seconds = profile.call_seconds.emplace_back();
    for (size_t c = 0; c + 1 < stamps.size(); ++c) seconds.push_back(Between(stamps[c], stamps[c + 1]));
  } while (static_cast<int>(profile.call_seconds.size()) < runs &&
           std::chrono::steady_clock::now() < give_up);
  return profile;
}

}  // namespace kiln
