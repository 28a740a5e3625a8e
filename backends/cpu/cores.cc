#include "backends/cpu/cores.h"

#include <hwloc.h>
#include <sched.h>

#include <algorithm>

namespace kiln {

std::vector<std::vector<int>> UsableCores() {
  cpu_set_t usable;
  CPU_ZERO(&usable);
  if (sched_getaffinity(0, sizeof usable, &usable) != 0) CPU_SET(0, &usable);
  std::vector<std::vector<int>> cores;
  hwloc_topology_t topology;
  if (hwloc_topology_init(&topology) == 0) {
    if (hwloc_topology_load(topology) == 0) {
      hwloc_obj_t core = nullptr;
      while ((core = hwloc_get_next_obj_by_type(topology, HWLOC_OBJ_CORE, core)) != nullptr) {
        std::vector<int> threads;
        for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
          if (CPU_ISSET(cpu, &usable) && hwloc_bitmap_isset(core->cpuset, static_cast<unsigned>(cpu)))
            threads.push_back(cpu);
        }
        if (!threads.empty()) cores.push_back(threads);
      }
    }
    hwloc_topology_destroy(topology);
  }
  if (!cores.empty()) return cores;
  for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
    if (CPU_ISSET(cpu, &usable)) cores.push_back({cpu});
  }
  return cores;
}

CoreShares ShareCores(const std::vector<std::vector<int>>& cores, int threads) {
  const size_t count = cores.size();
  const size_t timed = threads <= 0 ? count : std::min(static_cast<size_t>(threads), count);
  CoreShares shares;
  for (size_t i = count - timed; i < count; ++i) shares.timed.push_back(cores[i].front());
  shares.apart = timed < count;
  shares.builds.assign(cores.begin(),
                       shares.apart ? cores.end() - static_cast<ptrdiff_t>(timed) : cores.end());
  return shares;
}

}  // namespace kiln
