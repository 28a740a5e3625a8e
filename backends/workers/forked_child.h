// What a process does first that was forked to do a part of our work: it ends with the thread that forked it,
// and leaves it to that one to be interrupted.
#pragma once

#include <signal.h>
#include <sys/prctl.h>
#include <sys/types.h>
#include <unistd.h>

namespace kiln {

// In the child; `parent`: getpid() from before the fork. An exec keeps it.
inline void EndWithParent(pid_t parent) {
  for (const int number : {SIGINT, SIGTERM, SIGHUP}) signal(number, SIG_IGN);
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent) _exit(1);
}

}  // namespace kiln
