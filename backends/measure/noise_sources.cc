#include "backends/measure/noise_sources.h"

#include <sched.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <numeric>
#include <sstream>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "backends/cpu/cores.h"
#include "backends/cpu/machine.h"
#include "fmt/format.h"

namespace kiln {
namespace {

constexpr int kSamples = 200;
constexpr double kMaxSpread = 1.03, kMaxStolen = 0.005, kMaxLoad = 0.3;
constexpr int64_t kUnknownL2 = 512 << 10;

std::string FileText(const std::string& path) {
  std::stringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

struct Ticks {
  double stolen = 0, all = 0;
};

// Reads the time that other guests of the hypervisor took (steal), and the sum of all times, from the first line of
// /proc/stat: cpu user nice system idle iowait irq softirq steal ...
Ticks ReadTicks() {
  std::ifstream file("/proc/stat");
  std::string word;
  file >> word;
  Ticks ticks;
  double value = 0;
  for (int i = 0; i < 8 && file >> value; ++i) {
    ticks.all += value;
    if (i == 7) ticks.stolen = value;
  }
  return ticks;
}

std::vector<std::string> Governors() {
  std::vector<std::string> governors;
  std::error_code error;
  for (const auto& cpu : std::filesystem::directory_iterator("/sys/devices/system/cpu", error)) {
    const std::string text = FileText(cpu.path() / "cpufreq" / "scaling_governor");
    const std::string governor(absl::StripAsciiWhitespace(text));
    if (!governor.empty() && std::find(governors.begin(), governors.end(), governor) == governors.end())
      governors.push_back(governor);
  }
  return governors;
}

template <typename Work>
double SpreadOf(Work work) {
  std::vector<double> seconds;
  for (int i = 0; i < kSamples; ++i) {
    const auto start = std::chrono::steady_clock::now();
    work();
    seconds.push_back(std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
  }
  std::sort(seconds.begin(), seconds.end());
  return seconds[kSamples * 9 / 10] / seconds[kSamples / 10];
}

void SpinInRegisters() {
  uint64_t value = 1;
  for (int i = 0; i < 1'000'000; ++i) asm volatile("" : "+r"(value));
}

Finding Of(const char* what, std::string found, bool disturbs, const char* advice) {
  return {what, std::move(found), disturbs, disturbs ? advice : ""};
}

}  // namespace

MachineState ObserveMachine() {
  MachineState state;
  getloadavg(&state.load, 1);
  const auto cores = UsableCores();
  state.cores = static_cast<int>(cores.size());
  state.threads_share_cores =
      std::any_of(cores.begin(), cores.end(), [](const auto& threads) { return threads.size() > 1; });
  state.governors = Governors();
  const std::string pages = FileText("/sys/kernel/mm/transparent_hugepage/enabled");
  for (const char* mode : {"always", "madvise", "never"}) {
    if (absl::StrContains(pages, absl::StrCat("[", mode, "]"))) state.huge_pages = mode;
  }
  state.guest = absl::StrContains(FileText("/proc/cpuinfo"), " hypervisor");

  cpu_set_t before, timed;
  const bool known = sched_getaffinity(0, sizeof(before), &before) == 0;
  CPU_ZERO(&timed);
  CPU_SET(ShareCores(cores, 1).timed.front(), &timed);
  sched_setaffinity(0, sizeof(timed), &timed);
  const Ticks start = ReadTicks();
  state.register_spread = SpreadOf(SpinInRegisters);
  const int64_t l2 = Host().l2_bytes > 0 ? Host().l2_bytes : kUnknownL2;
  std::vector<uint64_t> memory(static_cast<size_t>(l2 / 2) / sizeof(uint64_t), 1);
  uint64_t sum = 0;
  state.cache_spread = SpreadOf([&] {
    for (int pass = 0; pass < 32; ++pass) sum = std::accumulate(memory.begin(), memory.end(), sum);
    asm volatile("" : "+r"(sum));
  });
  const Ticks end = ReadTicks();
  if (end.all > start.all) state.stolen = (end.stolen - start.stolen) / (end.all - start.all);
  if (known) sched_setaffinity(0, sizeof(before), &before);
  return state;
}

std::vector<Finding> NoiseSources(const MachineState& s) {
  const bool slow_clock = std::any_of(s.governors.begin(), s.governors.end(),
                                      [](const std::string& governor) { return governor != "performance"; });
  return {
      Of("load", fmt::format("{:.2f} on {} cores", s.load, s.cores), s.load > kMaxLoad * s.cores,
         "end what else runs; times are best taken on a machine that does nothing else"),
      Of("cores", fmt::format("{}", s.cores), s.cores < 2,
         "with one core candidates are built and timed in turns; give Kiln a second one"),
      Of("other guests", fmt::format("took {:.1f}% of the time", 100 * s.stolen), s.stolen > kMaxStolen,
         "the hypervisor gives this machine's processors to others; ask for processors of its own"),
      Of("frequency", s.governors.empty() ? "the system does not say" : absl::StrJoin(s.governors, ", "),
         slow_clock, "set the governor of each processor to performance"),
      Of("huge pages", s.huge_pages.empty() ? "the system does not say" : s.huge_pages,
         s.huge_pages == "never",
         "allow them with madvise: where pages lie would decide which addresses meet in a cache"),
      Of("hardware threads",
         s.threads_share_cores ? "several on a core"
         : s.guest             ? "unknown, as this is a virtual machine"
                               : "one on a core",
         s.threads_share_cores,
         "keep other work off the sibling of the core that timed runs have, or switch it off"),
      Of("a loop in registers", fmt::format("differs by {:.1f}%", 100 * (s.register_spread - 1)),
         s.register_spread > kMaxSpread, "something takes the core away or changes its frequency"),
      Of("a loop in the second cache", fmt::format("differs by {:.1f}%", 100 * (s.cache_spread - 1)),
         s.cache_spread > kMaxSpread,
         "something shares the caches of this core: compare kernels in turns only, and prefer more trials"),
  };
}

}  // namespace kiln
