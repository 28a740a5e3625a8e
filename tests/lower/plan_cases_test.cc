// Tests of the passes of lowering as text: one test for each file of tests/lower/plans.
//
//   # Shows what the pass does.
//   pass: guards
//   options: stream_bytes=2048 features=+avxvnni
//   without: boundary-versions
//
//   kiln.program v1 ...
//   kiln.plan v1 ...                  before the pass
//
//   after:
//   kiln.plan v1 ...                  the same program's plan after it
//
// The lines `options:` (features, vector_bytes, stream_bytes or nest_versions) and `without:` (policies) may be left
// out. The test also runs both plans, which must compute the same. Start the test program with --update-goldens to
// write the part behind `after:`. If the plan before the pass is missing, this writes it too: the plan that the earlier
// passes make of the program.
#include <gtest/gtest.h>

#include <fstream>
#include <set>
#include <sstream>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "backends/lower/plan/loop_plan_text.h"
#include "backends/lower/text/loop_plan_parse.h"
#include "lang/text/text.h"
#include "test_paths.h"
#include "testing/golden.h"
#include "testing/plan_interpreter.h"
#include "testing/random_program.h"

namespace kiln {
namespace {

constexpr absl::string_view kAfter = "\nafter:\n";

struct PlanCase {
  std::string head;  // the lines before the program
  std::string pass;
  LowerOptions options;
  std::string before;  // program and plan
};

void ParseOption(absl::string_view pair, LowerOptions& options) {
  const std::pair<std::string, std::string> option = absl::StrSplit(pair, absl::MaxSplits('=', 1));
  const auto& [name, value] = option;
  if (name == "features") {
    options.features = value;
    return;
  }
  int64_t* number = name == "vector_bytes"    ? &options.vector_bytes
                    : name == "stream_bytes"  ? &options.stream_bytes
                    : name == "nest_versions" ? &options.costs.nest_versions
                                              : nullptr;
  EXPECT_TRUE(number != nullptr && absl::SimpleAtoi(value, number)) << "there is no option " << pair;
}

PlanCase ParseCase(absl::string_view text) {
  PlanCase c;
  text = text.substr(0, text.find(kAfter));
  const size_t blank = text.find("\n\n");
  c.head = std::string(text.substr(0, blank));
  c.before = blank == absl::string_view::npos ? "" : std::string(text.substr(blank + 2));
  for (absl::string_view line : absl::StrSplit(c.head, '\n')) {
    if (absl::ConsumePrefix(&line, "pass: ")) {
      c.pass = std::string(line);
    } else if (absl::ConsumePrefix(&line, "options: ")) {
      for (const absl::string_view pair : absl::StrSplit(line, ' ')) ParseOption(pair, c.options);
    } else if (absl::ConsumePrefix(&line, "without: ")) {
      const auto policies = Policies::Without(line);
      EXPECT_TRUE(policies.ok()) << policies.status();
      if (policies.ok()) c.options.policies = *policies;
    } else {
      EXPECT_TRUE(absl::StartsWith(line, "#")) << "wanted #, pass:, options: or without:, found " << line;
    }
  }
  return c;
}

// Returns the text of the case's program, and of the plan that the passes before the tested one make of this program.
std::string WithPlan(const PlanCase& c) {
  const auto program = ParseProgram(c.before);
  EXPECT_TRUE(program.ok()) << program.status();
  if (!program.ok()) return "";
  std::string plan, before;
  const plan::Planned made = plan::PlanLoops(
      *program, c.options, [&](absl::string_view pass, absl::FunctionRef<std::string()> text) {
        if (pass == c.pass) before = plan;
        plan = text();
      });
  return absl::StrCat(ToString(made.program), "\n", before);
}

class PlanCaseTest : public testing::Test {
 public:
  explicit PlanCaseTest(std::filesystem::path path) : path_(std::move(path)) {}

  void TestBody() override {
    std::stringstream text;
    text << std::ifstream(path_).rdbuf();
    PlanCase c = ParseCase(text.str());
    if (UpdatesGoldens() && !absl::StrContains(c.before, "kiln.plan")) c.before = WithPlan(c);
    const auto before = plan::ParsePlan(c.before);
    ASSERT_TRUE(before.ok()) << path_ << ": " << before.status();
    plan::Planned after = *before;
    bool is_known = false;
    for (const plan::Pass& pass : plan::Passes()) {
      if (pass.name != c.pass) continue;
      is_known = true;
      for (plan::Entry& entry : after.plan.entries)
        pass.apply(after.program, after.plan.indices, entry.nodes, c.options);
    }
    ASSERT_TRUE(is_known) << "there is no pass " << c.pass;
    const std::string found = ToString(after.program, after.plan);
    ExpectGoldenFile(path_, absl::StrCat(c.head, "\n\n", plan::Text(*before), kAfter, found));
    ExpectSame(*before, after);
  }

 private:
  void ExpectSame(const plan::Planned& before, const plan::Planned& after) {
    RandomDice dice(Engine{7});
    const std::vector<std::string> inputs = RandomInputs(before.program, dice);
    const auto wanted = RunPlan(before.program, before.plan, inputs);
    const auto found = RunPlan(after.program, after.plan, inputs);
    ASSERT_TRUE(wanted.ok() && found.ok()) << wanted.status() << found.status();
    EXPECT_EQ(*found, *wanted);
  }

  std::filesystem::path path_;
};

bool RegisterCases() {
  std::set<std::filesystem::path> files;  // by name: the file system has its own order
  for (const auto& entry : std::filesystem::directory_iterator(KILN_SOURCE_DIR "/tests/lower/plans"))
    files.insert(entry.path());
  for (const std::filesystem::path& file : files) {
    testing::RegisterTest("plans", file.stem().c_str(), nullptr, nullptr, file.c_str(), 1,
                          [file]() -> testing::Test* { return new PlanCaseTest(file); });
  }
  return true;
}

const bool kRegistered = RegisterCases();

}  // namespace
}  // namespace kiln
