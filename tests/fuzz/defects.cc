#include "tests/fuzz/defects.h"

#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <set>
#include <string>

#include "fmt/format.h"
#include "lang/check.h"
#include "lang/defect.h"
#include "nlohmann/json.hpp"
#include "test_paths.h"
#include "tests/fuzz/case.h"

namespace kiln::fuzz {
namespace {

constexpr int kTraces = 4;

struct Found {
  int64_t pairs = 0;
  char property[24] = "";
};

struct Search {
  std::string defect;
  Found* found;
};

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

// Where the defect is in a primitive, that one is drawn more often.
void Fuzz(const std::string& defect, int64_t seeds, Found& found) {
  const Primitive* const favored = FindPrimitive(defect.substr(0, defect.find('.')));
  for (int64_t seed = 1; seed <= seeds; ++seed) {
    found.pairs = (seed - 1) * kTraces + 1;
    for (const Outcome& outcome : RunSeed(static_cast<uint64_t>(seed), kTraces, nullptr, favored)) {
      if (outcome.broken) {
        outcome.broken.property.copy(found.property, sizeof found.property - 1);
        return;
      }
      ++found.pairs;
    }
  }
}

// In a child, which writes what it finds to memory that both share.
pid_t Start(Search& search, int64_t seeds) {
  void* const shared =
      mmap(nullptr, sizeof(Found), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  KILN_CHECK(shared != MAP_FAILED, "no memory");
  search.found = new (shared) Found();
  const pid_t child = fork();
  if (child != 0) return child;
  PlantDefect(search.defect);
  close(STDERR_FILENO);
  Fuzz(search.defect, seeds, *search.found);
  _exit(0);
}

// A child that dies has found it.
Found Finish(const Search& search, int status) {
  Found found = *search.found;
  munmap(search.found, sizeof(Found));
  if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) std::strcpy(found.property, "crash");
  return found;
}

}  // namespace

int FindDefects(const std::string& only, int64_t seeds, int64_t threads, const std::string& results) {
  if (!HasDefects()) {
    fmt::print("this build has no defects to plant; the instrumented one has\n");
    return 2;
  }
  std::map<pid_t, Search> running;
  nlohmann::ordered_json rows = nlohmann::json::array();
  std::map<std::string, Found> all;
  const auto wait = [&] {
    int status = 0;
    const auto done = running.find(waitpid(-1, &status, 0));
    KILN_CHECK(done != running.end(), "an unknown child ended");
    const Found found = Finish(done->second, status);
    const bool known = found.property[0] != '\0';
    fmt::print("{:<36} {:<16} {:>7} pairs\n", done->second.defect, known ? found.property : "NOT FOUND",
               found.pairs);
    std::fflush(stdout);
    all[done->second.defect] = found;
    running.erase(done);
  };
  for (const std::string& name : Names()) {
    if (!only.empty() && name.find(only) == std::string::npos) continue;
    if (static_cast<int64_t>(running.size()) >= threads) wait();
    Search search{name, nullptr};
    const pid_t child = Start(search, seeds);
    running.emplace(child, search);
  }
  while (!running.empty()) wait();
  int missed = 0;
  for (const auto& [name, found] : all) {
    missed += found.property[0] == '\0';
    rows.push_back({{"defect", name}, {"property", found.property}, {"pairs", found.pairs}});
  }
  if (!results.empty()) std::ofstream(results) << rows.dump(1) << "\n";
  fmt::print("{} of {} found\n", all.size() - missed, all.size());
  return missed == 0 ? 0 : 1;
}

}  // namespace kiln::fuzz
