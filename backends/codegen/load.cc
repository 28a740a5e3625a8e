#include "backends/codegen/load.h"

#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <string>

namespace kiln {

int OthersReadyToRun() {
  std::ifstream file("/proc/stat");
  std::string line;
  const std::string word = "procs_running ";
  while (std::getline(file, line)) {
    if (line.compare(0, word.size(), word) == 0)
      return std::max(0, std::atoi(line.c_str() + word.size()) - 1);
  }
  return 0;
}

int CoresOfTheMachine() { return std::max(1, static_cast<int>(sysconf(_SC_NPROCESSORS_ONLN))); }

}  // namespace kiln
