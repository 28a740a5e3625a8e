#include "backends/workers/forked_child.h"

#include <gtest/gtest.h>
#include <poll.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include "absl/strings/str_cat.h"
#include "backends/workers/child.h"

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

TEST(RunInChild, SaysWhatFailsWithoutFreeDescriptors) {
  rlimit before;
  getrlimit(RLIMIT_NOFILE, &before);
  const int free = dup(0);  // the lowest free descriptor
  close(free);
  for (const auto& [more, failed] : {std::pair(0, "memfd_create: "), std::pair(2, "pipe: ")}) {
    const rlimit few{static_cast<rlim_t>(free + more), before.rlim_max};
    setrlimit(RLIMIT_NOFILE, &few);
    const auto answer = RunInChild([] { return std::string("done"); });
    setrlimit(RLIMIT_NOFILE, &before);
    EXPECT_EQ(answer.status(), absl::InternalError(absl::StrCat(failed, "Too many open files")));
  }
  EXPECT_EQ(RunInChild([] { return std::string("done"); }).value(), "done");
}

}  // namespace
}  // namespace kiln
