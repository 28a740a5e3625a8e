#include "testing/case_files.h"

#include <gtest/gtest.h>

#include <fstream>
#include <map>
#include <set>
#include <sstream>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "lang/target/gpu_target.h"
#include "lang/text/text.h"
#include "testing/golden.h"

namespace kiln {
namespace {

constexpr absl::string_view kExpected = "\nexpected:\n";

using Pairs = std::vector<std::pair<std::string, std::string>>;

absl::Status Wrong(absl::string_view line, absl::string_view why) {
  return absl::InvalidArgumentError(absl::StrCat("in the line \"", line, "\": ", why));
}

// Parses a text of pairs such as "a=1 b=2,3". Errors name `line`.
absl::StatusOr<Pairs> ParsePairs(absl::string_view line, absl::string_view text) {
  Pairs pairs;
  for (const absl::string_view word : absl::StrSplit(text, ' ', absl::SkipEmpty())) {
    const size_t equals = word.find('=');
    if (equals == absl::string_view::npos)
      return Wrong(line, absl::StrCat("wanted NAME=VALUE, found ", word));
    pairs.emplace_back(word.substr(0, equals), word.substr(equals + 1));
  }
  return pairs;
}

bool SetField(Target& target, const std::string& name, const std::string& value) {
  static const std::map<std::string, std::string Target::*> kTexts = {{"features", &Target::features},
                                                                      {"name", &Target::name}};
  static const std::map<std::string, int Target::*> kCounts = {
      {"cores", &Target::cores},
      {"vector_bytes", &Target::vector_bytes},
      {"vector_registers", &Target::vector_registers}};
  static const std::map<std::string, int64_t Target::*> kSizes = {{"l1_bytes", &Target::l1_bytes},
                                                                  {"l2_bytes", &Target::l2_bytes},
                                                                  {"l3_bytes", &Target::l3_bytes},
                                                                  {"max_unrolled", &Target::max_unrolled}};
  static const std::map<std::string, bool Target::*> kSwitches = {{"fma", &Target::fma},
                                                                  {"contract", &Target::contract}};
  if (name == "gpu") {
    const Gpu* const gpu = FindGpu(value);
    if (gpu != nullptr) target = GpuTarget(*gpu);
    return gpu != nullptr;
  }
  if (const auto at = kTexts.find(name); at != kTexts.end()) return target.*at->second = value, true;
  if (const auto at = kCounts.find(name); at != kCounts.end())
    return absl::SimpleAtoi(value, &(target.*at->second));
  if (const auto at = kSizes.find(name); at != kSizes.end())
    return absl::SimpleAtoi(value, &(target.*at->second));
  if (const auto at = kSwitches.find(name); at != kSwitches.end())
    return absl::SimpleAtob(value, &(target.*at->second));
  return false;
}

absl::Status ParseTarget(absl::string_view line, absl::string_view text, Target& target) {
  const auto pairs = ParsePairs(line, text);
  if (!pairs.ok()) return pairs.status();
  for (const auto& [name, value] : *pairs) {
    if (!SetField(target, name, value)) return Wrong(line, absl::StrCat("no target has ", name, "=", value));
  }
  return absl::OkStatus();
}

absl::Status ParseDecisions(absl::string_view line, absl::string_view text, ShownSketches& shown) {
  const auto pairs = ParsePairs(line, text);
  if (!pairs.ok()) return pairs.status();
  for (const auto& [site, value] : *pairs) {
    std::vector<int64_t>& decision = shown.decisions.emplace_back(site, std::vector<int64_t>()).second;
    for (const absl::string_view number : absl::StrSplit(value, ',')) {
      if (!absl::SimpleAtoi(number, &decision.emplace_back()))
        return Wrong(line, absl::StrCat(number, " is not a number"));
    }
  }
  return absl::OkStatus();
}

absl::Status ParseLine(absl::string_view line, ModuleCase& c) {
  absl::string_view rest = line;
  if (absl::StartsWith(line, "#")) return absl::OkStatus();
  if (absl::ConsumePrefix(&rest, "space: ")) {
    c.space = std::string(rest);
    return absl::OkStatus();
  }
  if (absl::ConsumePrefix(&rest, "target: ")) return ParseTarget(line, rest, c.target);
  if (absl::ConsumePrefix(&rest, "decisions: ")) return ParseDecisions(line, rest, c.shown);
  if (!absl::ConsumePrefix(&rest, "sketch: "))
    return Wrong(line, "wanted #, space:, target:, sketch: or decisions:");
  auto choices = ParsePairs(line, rest);
  if (!choices.ok()) return choices.status();
  c.shown.choices = *std::move(choices);
  return absl::OkStatus();
}

class CaseTest : public testing::Test {
 public:
  explicit CaseTest(std::filesystem::path path) : path_(std::move(path)) {}

  void TestBody() override {
    std::stringstream text;
    text << std::ifstream(path_).rdbuf();
    const auto c = ParseModuleCase(text.str());
    ASSERT_TRUE(c.ok()) << path_ << ": " << c.status().message();
    const std::string found = SketchesText(c->space, c->program, c->target, c->shown);
    ExpectGoldenFile(path_, absl::StrCat(c->head, kExpected, found));
    if (!absl::StartsWith(found, "error: ")) ExpectSketchesCompute(c->space, c->program, c->target);
  }

 private:
  std::filesystem::path path_;
};

}  // namespace

absl::StatusOr<ModuleCase> ParseModuleCase(absl::string_view text) {
  ModuleCase c;
  const size_t end = text.find(kExpected);
  c.head = std::string(text.substr(0, end));
  if (end != absl::string_view::npos) c.expected = std::string(text.substr(end + kExpected.size()));
  const size_t blank = c.head.find("\n\n");
  if (blank == std::string::npos)
    return absl::InvalidArgumentError("no empty line stands before the program");
  for (const absl::string_view line : absl::StrSplit(absl::string_view(c.head).substr(0, blank), '\n')) {
    if (absl::Status parsed = ParseLine(line, c); !parsed.ok()) return parsed;
  }
  if (c.space.empty()) return absl::InvalidArgumentError("no line begins with \"space: \"");
  auto program = ParseProgram(absl::string_view(c.head).substr(blank + 2));
  if (!program.ok()) return program.status();
  c.program = *std::move(program);
  return c;
}

bool RegisterModuleCases(const std::filesystem::path& folder) {
  std::set<std::filesystem::path> files;  // by name: the file system has its own order
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder)) {
    if (entry.path().extension() == ".txt") files.insert(entry.path());
  }
  for (const std::filesystem::path& file : files) {
    const std::filesystem::path subject = file.lexically_relative(folder).parent_path();
    const std::string suite = subject.empty() ? "cases" : ("cases" / subject).generic_string();
    testing::RegisterTest(suite.c_str(), file.stem().c_str(), nullptr, nullptr, file.c_str(), 1,
                          [file]() -> testing::Test* { return new CaseTest(file); });
  }
  return true;
}

}  // namespace kiln
