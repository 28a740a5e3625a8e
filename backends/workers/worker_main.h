// How a worker process begins: what WorkerProcess (worker_process.h) passes to main.
#pragma once

#include <optional>
#include <string>

namespace kiln {

struct WorkerStart {
  int socket = -1;
  std::string problem;  // what is to be said first: why it cannot work, or nothing
};

// Of a program that was called as `PROGRAM SOCKET PARENT CORES`, with the number of an open socket, the
// process that it must not outlive, and the cores it may use, separated by commas (none: all). From here on
// it dies with its parent and keeps to the cores. Nothing: it was called by somebody else, or the parent is
// gone.
std::optional<WorkerStart> EnterWorker(int count, char** arguments);

}  // namespace kiln
