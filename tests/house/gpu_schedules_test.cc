// Tests that every test of a GPU schedule, but for listed exceptions, checks it with ExpectSameOnGpu (the rules of
// programs, the proof, thread clocks, ptxas for two chips, and the emulator in all modes), with its part
// ExpectPlanOnGpu, or with the fuzzer.
//
// The test reads the sources: a definition makes a GPU schedule if its text binds loops to GPU axes or names the space
// `cuda`. Each such definition must call one of these checks, or be used by a definition that does.
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <regex>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "tests/house/source_tree.h"

namespace kiln::house {
namespace {

// The folders that the test reads. Their tests link LLVM, so that they can compile and run a GPU schedule.
constexpr const char* kFolders[] = {"tests/gpu/", "tests/support/", "tests/backends/", "tests/tools/",
                                    "tests/api/", "tests/e2e/",     "testing/"};
constexpr const char* kMakers[] = {".Bind(",      ".BindRest(",  " block-x {",           " thread-x {",
                                   " thread-y {", "bind-rest 4", "ParseSpace(\"cuda\")", "= \"cuda\""};
// The functions that check a GPU schedule. RunSeed is that of the fuzzer, which runs its draws in several orders and
// proves them.
constexpr const char* kChecks[] = {"ExpectSameOnGpu", "ExpectPlanOnGpu", "RunSeed"};

// Exceptions: definitions that make a GPU schedule but need not check it in full, each with the reason.
const std::pair<std::string, const char*> kOthers[] = {
    {"BuildKernels.RefusesAKernelThatSpills", "ptxas refuses it"},
    {"BuildKernels.RefusesAKernelThatTakesMoreSharedMemoryThanABlockHas", "the builder refuses it"},
    {"DrawFromSpace", "real sizes: the test compares sizes of shared memory alone"},
    {"GpuTiles.MustUnrollTheirRegisters", "the plan refuses it"},
    {"CudaSpace.DrawsValidSchedulesOfMergedPixels", "real sizes: another test runs small ones"},
    {"DrawFrom", "real sizes: the static machine runs them in all modes, and the proof proves them"},
};

// A definition in a source that begins in the first column: a function, a test, a constant or a type, with its text.
struct Definition {
  std::string path, name, text;

  bool Makes() const {
    return absl::c_any_of(kMakers, [&](const char* part) { return absl::StrContains(text, part); });
  }
  // True if this definition has the name of the other one in its text, and the other one is in the same file or in a
  // header.
  bool Uses(const Definition& other) const {
    if (&other == this || (other.path != path && !absl::EndsWith(other.path, ".h"))) return false;
    const auto in_word = [](char c) {
      return absl::ascii_isalnum(static_cast<unsigned char>(c)) || c == '_';
    };
    for (size_t at = text.find(other.name); at != std::string::npos; at = text.find(other.name, at + 1)) {
      const size_t end = at + other.name.size();
      if ((at == 0 || !in_word(text[at - 1])) && (end == text.size() || !in_word(text[end]))) return true;
    }
    return false;
  }
};

// Returns the name that the first line of a definition defines: "Suite.Name" for a test; "" if it defines nothing.
std::string NameOf(const std::string& line) {
  static const std::regex test(R"(^TEST\w*\((\w+), (\w+)\))"), other(R"((\w+)(\(|\[|\{| = | \{| : ))");
  std::smatch found;
  if (std::regex_search(line, found, test)) return absl::StrCat(found[1].str(), ".", found[2].str());
  return std::regex_search(line, found, other) ? found[1].str() : "";
}

void AddDefinitions(const TextFile& file, std::vector<Definition>& all) {
  bool in_raw_text = false;
  const size_t begin = all.size();
  for (const std::string& line : file.lines) {
    const bool starts = !in_raw_text && !line.empty() && absl::ascii_isalpha(line[0]) &&
                        !absl::StartsWith(line, "namespace") && !absl::StartsWith(line, "using");
    if (starts) all.push_back({file.path, NameOf(line), ""});
    if (all.size() > begin && !absl::StartsWith(line, "//")) absl::StrAppend(&all.back().text, line, "\n");
    if (absl::StrContains(line, "R\"(")) in_raw_text = true;
    if (absl::StrContains(line, ")\"")) in_raw_text = false;
  }
  all.erase(std::remove_if(all.begin() + static_cast<std::ptrdiff_t>(begin), all.end(),
                           [](const Definition& d) { return d.name.empty(); }),
            all.end());
}

std::vector<Definition> Definitions() {
  std::vector<Definition> all;
  for (const TextFile& file : ReadTree()) {
    const auto holds = [&](const char* folder) { return absl::StartsWith(file.path, folder); };
    if (file.IsSource() && absl::c_any_of(kFolders, holds)) AddDefinitions(file, all);
  }
  return all;
}

using Some = std::vector<const Definition*>;

// Adds to `some` each definition of `all` to which one in `some` is related, and repeats this for the added ones
// (closure).
void Close(Some& some, const std::vector<Definition>& all,
           const std::function<bool(const Definition&, const Definition&)>& is_related) {
  std::set<const Definition*> known(some.begin(), some.end());
  for (size_t next = 0; next < some.size(); ++next)
    for (const Definition& d : all)
      if (!known.contains(&d) && is_related(*some[next], d)) known.insert(&d), some.push_back(&d);
}

// Returns the definitions that call a check of GPU schedules, directly or through others, and all definitions that
// these use.
Some Checked(const std::vector<Definition>& all) {
  Some some;
  for (const Definition& d : all)
    if (absl::c_linear_search(kChecks, d.name)) some.push_back(&d);
  Close(some, all, [](const Definition& check, const Definition& d) { return d.Uses(check); });
  Close(some, all, [](const Definition& check, const Definition& d) { return check.Uses(d); });
  return some;
}

TEST(GpuSchedules, AreCheckedInAllModes) {
  const std::vector<Definition> all = Definitions();
  const Some checked = Checked(all);
  int makers = 0;
  std::set<std::string> others;
  for (const Definition& made : all) {
    if (!made.Makes()) continue;
    ++makers;
    if (absl::c_linear_search(checked, &made)) continue;
    if (absl::c_any_of(kOthers, [&](const auto& other) { return other.first == made.name; })) {
      others.insert(made.name);
      continue;
    }
    ADD_FAILURE() << made.path << ": " << made.name
                  << " makes a GPU schedule which no test gives to ExpectSameOnGpu (tests/gpu/on_gpu.h)";
  }
  EXPECT_GT(makers, 30);
  for (const auto& [name, why] : kOthers) EXPECT_TRUE(others.contains(name)) << name << ": " << why;
}

}  // namespace
}  // namespace kiln::house
