// Ties a forked process to the thread that forked it: the process ends with that thread, and ignores interrupts, which
// that thread handles.
#pragma once

#include <signal.h>
#include <sys/prctl.h>
#include <sys/types.h>
#include <unistd.h>

namespace kiln {

// Makes this process ignore SIGINT, SIGTERM and SIGHUP, and die with the thread that forked it; ends it if the parent
// is gone. Call it in the child. `parent` is the result of getpid() before the fork. The settings survive an exec.
inline void EndWithParent(pid_t parent) {
  for (const int number : {SIGINT, SIGTERM, SIGHUP}) signal(number, SIG_IGN);
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent) _exit(1);
}

}  // namespace kiln
