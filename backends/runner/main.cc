// The main function of kiln-runner, which serves requests to run kernels. RunnerPool (pool.h) starts it as
// worker_main.h says. Started in another way, it prints what it is for and returns 2. Kernels use this program's
// allocation functions (allocation.h), so that the runner notices when an allocation is refused.
#include <stdio.h>

#include "backends/runner/zygote.h"
#include "backends/workers/allocation.h"
#include "backends/workers/guard.h"
#include "backends/workers/worker_main.h"

void kiln::AllocationRefused() { NoteRefusedAllocation(); }

int main(int count, char** arguments) {
  const auto start = kiln::EnterWorker(count, arguments);
  if (!start) {
    fprintf(stderr, "kiln-runner runs candidates for kiln, which starts it.\n");
    return 2;
  }
  return kiln::ServeRequests(start->socket, start->problem);
}
