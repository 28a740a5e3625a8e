// The first steps of a process that was forked for a part of our work: it ends with the thread that forked
// it, and ignores interrupts, which that thread handles.
#pragma once

#include <signal.h>
#include <sys/prctl.h>
#include <sys/types.h>
#include <unistd.h>

namespace kiln {

// Call it in the child. `parent` is the result of getpid() before the fork. The setting survives an exec.
inline void EndWithParent(pid_t parent) {
  for (const int number : {SIGINT, SIGTERM, SIGHUP}) signal(number, SIG_IGN);
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent) _exit(1);
}

}  // namespace kiln
