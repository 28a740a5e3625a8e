#include "tests/fuzz/defects.h"

#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>
#include <string>

#include "absl/time/clock.h"
#include "fmt/format.h"
#include "lang/defect.h"
#include "test_paths.h"
#include "tests/fuzz/case.h"

namespace kiln::fuzz {
namespace {

constexpr int kTraces = 4;

std::set<std::string> Names() {
  std::set<std::string> names;
  for (const char* folder : {"lang", "trace", "validator"}) {
    for (const auto& entry :
         std::filesystem::recursive_directory_iterator(std::string(KILN_SOURCE_DIR) + "/" + folder)) {
      if (entry.path().extension() != ".cc") continue;
      std::ifstream file(entry.path());
      const std::string text{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
      const std::string kBegin = "KILN_DEFECT(\"";
      for (size_t at = text.find(kBegin); at != std::string::npos; at = text.find(kBegin, at + 1)) {
        const size_t from = at + kBegin.size();
        names.insert(text.substr(from, text.find('"', from) - from));
      }
    }
  }
  return names;
}

struct Found {
  int64_t pairs = 0;
  char property[24] = "";
};

Found Fuzz(int64_t seeds) {
  Found found;
  for (int64_t seed = 1; seed <= seeds; ++seed) {
    for (const Outcome& outcome : RunSeed(static_cast<uint64_t>(seed), kTraces, nullptr)) {
      ++found.pairs;
      if (!outcome.broken) continue;
      outcome.broken.property.copy(found.property, sizeof found.property - 1);
      return found;
    }
  }
  return found;
}

// In a child; one that dies has found it.
Found FuzzApart(const std::string& defect, int64_t seeds) {
  int ends[2];
  if (pipe(ends) != 0) return {};
  const pid_t child = fork();
  if (child == 0) {
    PlantDefect(defect);
    close(STDERR_FILENO);
    const Found found = Fuzz(seeds);
    _exit(write(ends[1], &found, sizeof found) == sizeof found ? 0 : 1);
  }
  close(ends[1]);
  Found found;
  if (read(ends[0], &found, sizeof found) != sizeof found) found = {0, "crash"};
  close(ends[0]);
  waitpid(child, nullptr, 0);
  return found;
}

}  // namespace

int FindDefects(int64_t seeds) {
  if (!HasDefects()) {
    fmt::print("this build has no defects to plant; the instrumented one has\n");
    return 2;
  }
  int missed = 0, all = 0;
  for (const std::string& name : Names()) {
    const absl::Time begin = absl::Now();
    const Found found = FuzzApart(name, seeds);
    const bool known = found.property[0] != '\0';
    fmt::print("{:<36} {:<16} {:>7} pairs {:>7.1f} s\n", name, known ? found.property : "NOT FOUND",
               found.pairs, absl::ToDoubleSeconds(absl::Now() - begin));
    std::fflush(stdout);
    ++all;
    missed += !known;
  }
  fmt::print("{} of {} found\n", all - missed, all);
  return missed == 0 ? 0 : 1;
}

}  // namespace kiln::fuzz
