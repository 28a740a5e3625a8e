#include "backends/workers/worker_main.h"

#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"

namespace kiln {
namespace {

std::string UseCores(const std::string& cores) {
  if (cores.empty()) return "";
  cpu_set_t set;
  CPU_ZERO(&set);
  for (absl::string_view part : absl::StrSplit(cores, ',')) {
    int core = 0;
    if (!absl::SimpleAtoi(part, &core) || core < 0 || core >= CPU_SETSIZE)
      return absl::StrCat("'", part, "' is not a core");
    CPU_SET(core, &set);
  }
  return sched_setaffinity(0, sizeof(set), &set) == 0 ? "" : absl::StrCat("cores ", cores, " cannot be used");
}

}  // namespace

std::optional<WorkerStart> EnterWorker(int count, char** arguments) {
  int socket = 0, parent = 0;
  if (count != 4 || !absl::SimpleAtoi(arguments[1], &socket) || !absl::SimpleAtoi(arguments[2], &parent))
    return std::nullopt;
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent) return std::nullopt;
  return WorkerStart{socket, UseCores(arguments[3])};
}

}  // namespace kiln
