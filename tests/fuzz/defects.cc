#include "tests/fuzz/defects.h"

#include <signal.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmath>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/time/clock.h"
#include "fmt/format.h"
#include "lang/analysis/legality.h"
#include "lang/base/check.h"
#include "lang/base/defect.h"
#include "lang/reference/symbolic.h"
#include "lang/target/gpu_target.h"
#include "lang/threads/synchronization.h"
#include "lang/verify/verify.h"
#include "nlohmann/json.hpp"
#include "test_paths.h"
#include "testing/threads/thread_clocks.h"
#include "tests/fuzz/case.h"
#include "tests/fuzz/kernels.h"
#include "tests/fuzz/plans.h"
#include "validator/proof/decide.h"
#include "validator/proof/proof.h"
#include "validator/proof/synchronization.h"

namespace kiln::fuzz {
namespace {

constexpr int kTraces = 4;
constexpr int kSecondsOfSeed = 5;  // of processor time; a seed takes less than one

// Returns true for a planted defect of lowering (its name begins with "plan."). Only running loop plans can find it:
// proofs compare programs before lowering.
bool IsOfPlans(const std::string& defect) { return absl::StartsWith(defect, "plan."); }

// Returns true for a planted defect that shows only in programs with threads of a GPU.
bool IsOfThreads(const std::string& defect) {
  return absl::StartsWith(defect, "synchronization.") || defect == "owners.digit" || defect == "owners.lanes";
}

// Returns true for a planted defect that random programs do not show, so that the fuzzer does not search for it.
// tests/lang/planted_defects_test.cc finds it.
bool IsOfTests(const std::string& defect) {
  static const std::set<std::string> kDefects = {"lowerable.registers", "nests.digits", "pipeline.ahead",
                                                 "pipeline.transport"};
  return kDefects.contains(defect);
}

// The findings of a child process about one planted defect, in memory that the child shares with its parent.
struct Found {
  int64_t seed = 0, pairs = 0;
  int64_t disagreed = 0, proven = 0;  // counts of proofs
  double seconds = 0;
  char property[24] = "";
};

struct Search {
  std::string defect;
  Found* found = nullptr;
  int64_t known = 0;  // a seed to try first
  absl::Time begin = absl::Now();
};

std::set<std::string> Names() {
  std::set<std::string> names;
  for (const char* folder : {"lang", "trace", "validator", "backends/lower"}) {
    for (const auto& entry :
         std::filesystem::recursive_directory_iterator(std::string(KILN_SOURCE_DIR) + "/" + folder)) {
      if (entry.path().extension() != ".cc") continue;
      std::ifstream file(entry.path());
      const std::string text{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
      const std::string kBegin = "KILN_DEFECT(\"";
      for (size_t at = text.find(kBegin); at != std::string::npos; at = text.find(kBegin, at + 1)) {
        const size_t from = at + kBegin.size();
        const std::string name = text.substr(from, text.find('"', from) - from);
        if (!IsOfTests(name)) names.insert(name);
      }
    }
  }
  return names;
}

// Returns the primitives that random traces draw more often in the search for a planted defect: the primitive with the
// defect, or those that expose it.
std::vector<const Primitive*> FavoredBy(const std::string& defect) {
  const std::map<std::string, std::vector<const char*>> kLeads = {
      {"bindings", {"split", "compute-at"}},
      {"blockize", {"split", "fuse", "blockize"}},
      {"compute-at.gaps", {"merge", "merge", "compute-at"}},
      {"instances", {"reorder", "parallel"}},
      {"owners", {"bind", "compute-at"}},
      {"owners.digit", {}},  // as kernels are made
      {"owners.lanes", {}},
      {"parallel", {"compute-at", "parallel"}},
      {"parallel.repeats", {"fuse", "parallel"}},
      {"pipeline", {"compute-at", "merge", "pipeline"}},
      {"reverse-compute-at.unfinished", {"bind", "reverse-compute-at"}},
      {"tensorize", {"blockize", "tensorize"}}};
  const std::string family = defect.substr(0, defect.find('.'));
  std::vector<const char*> names = {family.c_str()};
  for (const std::string& key : {family, defect}) {
    if (const auto leads = kLeads.find(key); leads != kLeads.end()) names = leads->second;
  }
  std::vector<const Primitive*> favored;
  for (const char* name : names) {
    if (const Primitive* primitive = FindPrimitive(name); primitive != nullptr) favored.push_back(primitive);
  }
  return favored;
}

// Runs the fuzzer on one seed, with a defect planted. Returns true if a check fails, and stores the name of the
// property that was violated. Counts the checked pairs of a program and a trace.
bool Finds(const Search& search, const std::vector<const Primitive*>& favored) {
  Found& found = *search.found;
  if (IsOfPlans(search.defect)) {
    const PlanSeed plans = CheckPlans(static_cast<uint64_t>(found.seed));
    found.pairs += plans.pairs;
    if (!plans.wrong.empty()) std::strcpy(found.property, "plan");
    return !plans.wrong.empty();
  }
  for (const Outcome& outcome : RunSeed(static_cast<uint64_t>(found.seed), kTraces, nullptr, favored)) {
    ++found.pairs;
    if (!outcome.broken) continue;
    outcome.broken.property.copy(found.property, sizeof found.property - 1);
    return true;
  }
  return false;
}

// Returns the synchronization plan of a program's threads. Returns nullopt if no loop is on an axis of blocks or
// threads, if CheckOwners refuses the program, or if no plan can order its threads.
std::optional<SyncPlan> PlanOf(const Program& program) {
  if (!HasAxes(program) || !CheckOwners(program).ok()) return std::nullopt;
  absl::StatusOr<SyncPlan> plan = PlanSynchronization(program);
  return plan.ok() ? std::optional(*std::move(plan)) : std::nullopt;
}

// Judges the proof by a synchronization plan that was made with a planted defect. If threads race under the plan,
// increments found.disagreed. If the plan is proven nevertheless, increments found.proven and prints the seed.
void ProvePlan(const std::string& defect, const Program& now, const SyncPlan& plan, Found& found) {
  constexpr int64_t kAccesses = 100'000, kPoints = 10'000;
  if (!absl::IsFailedPrecondition(CheckThreadClocks(now, plan, kAccesses))) return;
  ++found.disagreed;
  proof::Decider decider(nullptr, kPoints, absl::Now() + absl::Seconds(1));
  if (proof::CheckSynchronization(decider, proof::Spaces(now), plan).answer != proof::Answer::kYes) return;
  ++found.proven;
  fmt::print("{}: a plan with a race is proven at seed {}\n", defect, found.seed);
  std::fflush(stdout);
}

// Schedules a random program several times, and plans its threads, with a defect planted. Then runs and proves the
// results without the defect. Counts those that the runs refuse, and counts and prints those of them that are proven.
void ProveSeed(const std::string& defect, const std::vector<const Primitive*>& favored, Found& found) {
  const auto seed = static_cast<uint64_t>(found.seed);
  const Program program = DrawProgram(seed);
  for (int trace = 0; trace < kTraces; ++trace) {
    PlantDefect(defect);
    const Session session = FuzzTarget().gpu != nullptr ? DrawKernels(program, seed, trace, nullptr, favored)
                                                        : DrawTrace(program, seed, trace, nullptr, favored);
    const std::optional<SyncPlan> plan = PlanOf(session.state().program);
    PlantDefect("");
    const Program &original = session.state().Reference(program), &now = session.state().program;
    const absl::StatusOr<SymbolicOutputs> wanted = RunSymbolic(original);
    if (!wanted.ok() || session.broken() || !Verify(now).ok()) continue;
    ++found.pairs;
    if (plan.has_value()) ProvePlan(defect, now, *plan, found);
    if (!CheckRuns(now, *wanted, seed)) continue;
    ++found.disagreed;
    if (Prove(original, now).verdict != Proof::Verdict::kProven) continue;
    ++found.proven;
    fmt::print("{}: seed {} trace {} is proven\n", defect, seed, trace);
    std::fflush(stdout);
  }
}

// Stores the number of the seed that runs next, and starts a timer for it. A signal (SIGPROF) ends this process if the
// seed takes more than 5 s of processor time (kSecondsOfSeed).
void Begin(Found& found, int64_t seed) {
  found.seed = seed;
  const itimerval limit = {.it_interval = {}, .it_value = {.tv_sec = kSecondsOfSeed, .tv_usec = 0}};
  KILN_CHECK(setitimer(ITIMER_PROF, &limit, nullptr) == 0, "no timer");
}

// Starts the search for a planted defect in a child process, and returns the process id. The child tries the known seed
// first, and then the seeds after the last one that was tried: after a crash, that seed is not run again.
pid_t Start(const Search& search, const DefectStudy& study) {
  const pid_t child = fork();
  if (child != 0) return child;
  close(STDERR_FILENO);
  const std::vector<const Primitive*> favored = FavoredBy(search.defect);
  if (IsOfThreads(search.defect)) FuzzTarget() = GpuTarget(*FindGpu("h100"));
  AsksThreadClocks() = study.clocks;
  PlantDefect(search.defect);
  Found& found = *search.found;
  if (search.known > 0) {
    Begin(found, search.known);
    if (Finds(search, favored) || !study.clocks) _exit(0);
    found.seed = 0;
  }
  while (found.seed < study.seeds) {
    Begin(found, found.seed + 1);
    if (study.proofs) {
      ProveSeed(search.defect, favored, found);
    } else if (Finds(search, favored)) {
      break;
    }
  }
  _exit(0);
}

// Returns, by the name of a planted defect, the seed that found it in an earlier study, from the file of that study. If
// this study has no thread clocks, only the defects that they found. Empty without a file and for studies of the proof.
std::map<std::string, int64_t> KnownSeeds(const DefectStudy& study) {
  std::map<std::string, int64_t> seeds;
  if (study.known.empty() || study.proofs) return seeds;
  std::ifstream file(study.known);
  const nlohmann::json rows = nlohmann::json::parse(file, nullptr, false);
  KILN_CHECK(rows.is_array(), study.known, " is not a file of --defects --results");
  for (const nlohmann::json& row : rows)
    if (study.clocks || row.value("property", "") == "thread clocks")
      seeds[row.at("defect")] = row.value("seed", int64_t{0});
  return seeds;
}

std::string Row(const Found& found, bool proofs) {
  if (proofs)
    return fmt::format("{:>7} pairs {:>7} disagree {:>7} proven", found.pairs, found.disagreed, found.proven);
  return fmt::format("{:<16} {:>7} pairs {:>7.1f} s",
                     found.property[0] != '\0' ? found.property : "NOT FOUND", found.pairs, found.seconds);
}

// Prints how many planted defects were found, and writes the file of results, if it has a name. For a study of the
// proof, only prints its counts. Returns the exit status: 0 if the study passes (FindDefects in defects.h).
int Report(const DefectStudy& study, const std::map<std::string, Found>& all) {
  int64_t missed = 0, disagreed = 0, proven = 0;
  nlohmann::ordered_json rows = nlohmann::json::array();
  for (const auto& [name, found] : all) {
    missed += found.property[0] == '\0';
    disagreed += found.disagreed;
    proven += found.proven;
    rows.push_back({{"defect", name},
                    {"property", found.property},
                    {"seed", found.seed},
                    {"pairs", found.pairs},
                    {"seconds", std::round(found.seconds * 10) / 10}});
  }
  if (study.proofs) {
    fmt::print("{} pairs disagree, {} of them are proven\n", disagreed, proven);
    return proven == 0 ? 0 : 1;
  }
  if (!study.results.empty()) std::ofstream(study.results) << rows.dump(1) << "\n";
  fmt::print("{} of {} found\n", std::ssize(all) - missed, all.size());
  const int64_t wanted = study.clocks ? 0 : std::ssize(all);
  return missed == wanted && (study.clocks || wanted > 0) ? 0 : 1;
}

}  // namespace

int FindDefects(const DefectStudy& study) {
  if (!HasDefects()) {
    fmt::print("this build has no defects to plant; the instrumented one has\n");
    return 2;
  }
  const std::set<std::string> names = Names();
  std::map<std::string, int64_t> known = KnownSeeds(study);
  std::map<pid_t, Search> running;
  std::map<std::string, Found> all;
  const auto wait = [&] {
    int status = 0;
    const auto done = running.find(waitpid(-1, &status, 0));
    KILN_CHECK(done != running.end(), "an unknown child ended");
    const Search search = done->second;
    running.erase(done);
    const bool died = !WIFEXITED(status) || WEXITSTATUS(status) != 0;
    if (died && study.proofs && search.found->seed < study.seeds) {
      running.emplace(Start(search, study), search);
      return;
    }
    const bool late = WIFSIGNALED(status) && WTERMSIG(status) == SIGPROF;
    if (died) std::strcpy(search.found->property, late ? "time" : "crash");
    search.found->seconds = absl::ToDoubleSeconds(absl::Now() - search.begin);
    all[search.defect] = *search.found;
    fmt::print("{:<36} {}\n", search.defect, Row(*search.found, study.proofs));
    std::fflush(stdout);
    munmap(search.found, sizeof(Found));
  };
  for (const std::string& name : names) {
    if (!study.only.empty() && name.find(study.only) == std::string::npos) continue;
    if (study.proofs && IsOfPlans(name)) continue;
    if (!study.clocks && !known.contains(name)) continue;
    while (static_cast<int64_t>(running.size()) >= study.threads) wait();
    void* const shared =
        mmap(nullptr, sizeof(Found), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    KILN_CHECK(shared != MAP_FAILED, "no memory");
    const Search search{name, new (shared) Found(), known[name]};
    running.emplace(Start(search, study), search);
  }
  while (!running.empty()) wait();
  return Report(study, all);
}

}  // namespace kiln::fuzz
