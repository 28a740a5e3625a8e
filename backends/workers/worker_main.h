// Starts up a worker process: reads the arguments of main, which WorkerProcess (worker_process.h) passes.
#pragma once

#include <optional>
#include <string>

namespace kiln {

struct WorkerStart {
  int socket = -1;
  std::string problem;  // why the worker cannot work, to be sent first; usually empty
};

// Reads the arguments of a worker that was started as `PROGRAM SOCKET PARENT CORES`: the number of an open socket, the
// process that the worker must not outlive, and the cores that it may use, separated by commas (none: all). From then
// on the process dies with its parent and stays on the cores. If the cores cannot be used, `problem` of the result says
// so. Returns nullopt if the program was called in another way, or if the parent is gone.
std::optional<WorkerStart> EnterWorker(int count, char** arguments);

}  // namespace kiln
