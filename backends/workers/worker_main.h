// The start of a worker process: reads what WorkerProcess (worker_process.h) passes to main.
#pragma once

#include <optional>
#include <string>

namespace kiln {

struct WorkerStart {
  int socket = -1;
  std::string problem;  // why the worker cannot work, to be sent first; usually empty
};

// Reads the arguments of `PROGRAM SOCKET PARENT CORES`: the number of an open socket, the process that the
// worker must not outlive, and the cores it may use, separated by commas (none: all). From then on the
// process dies with its parent and stays on the cores. Returns nullopt if the program was called in another
// way, or if the parent is gone.
std::optional<WorkerStart> EnterWorker(int count, char** arguments);

}  // namespace kiln
