#include "backends/workers/forked_child.h"

#include <gtest/gtest.h>
#include <poll.h>
#include <sys/wait.h>

namespace kiln {
namespace {

TEST(ForkedChild, OutlivesAnInterruptButNotItsParent) {
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  const pid_t parent = fork();
  if (parent == 0) {
    const pid_t own = getpid();
    if (fork() == 0) {
      EndWithParent(own);
      raise(SIGINT);
      raise(SIGHUP);
      if (write(ends[1], "i", 1) != 1) _exit(1);
      while (true) pause();
    }
    while (true) pause();
  }
  close(ends[1]);
  pollfd readable{ends[0], POLLIN, 0};
  char byte = 0;
  ASSERT_EQ(poll(&readable, 1, 10'000), 1);
  EXPECT_EQ(read(ends[0], &byte, 1), 1) << "an interrupt has ended it";
  kill(parent, SIGKILL);
  EXPECT_EQ(waitpid(parent, nullptr, 0), parent);
  EXPECT_EQ(poll(&readable, 1, 10'000), 1) << "it lives on";
  EXPECT_EQ(read(ends[0], &byte, 1), 0);
  close(ends[0]);
}

}  // namespace
}  // namespace kiln
