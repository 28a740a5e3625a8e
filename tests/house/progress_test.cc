// Tests scripts/progress, which runs a command and reports its progress, with scripts that print lines in ninja's
// format, [10/40] ...
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "absl/strings/str_cat.h"
#include "test_paths.h"

namespace kiln {
namespace {

using testing::HasSubstr;
using testing::Not;

struct Ran {
  int status = 0;
  std::string said;
};

Ran Progress(const std::string& name, const std::string& script) {
  const std::string folder = absl::StrCat(testing::TempDir(), "/progress_", getpid(), "_", name);
  std::filesystem::create_directories(folder);
  std::ofstream(folder + "/fake") << script;
  const std::string command = absl::StrCat("cd '", folder, "' && : >said && KILN_PROGRESS_SECONDS=1 ",
                                           KILN_SOURCE_DIR, "/scripts/progress log bash fake 2>said");
  Ran ran{WEXITSTATUS(std::system(command.c_str())), ""};
  std::ifstream file(folder + "/said");
  ran.said.assign(std::istreambuf_iterator<char>(file), {});
  std::filesystem::remove_all(folder);
  return ran;
}

// A shell function: `until_said TEXT` waits until scripts/progress has printed a line with TEXT.
constexpr char kWait[] =
    "until_said() { for i in {1..3000}; do grep -q \"$1\" said && return; sleep 0.1; done; }\n";

TEST(Progress, TellsPartShareAndTimeLeft) {
  const Ran ran = Progress("parts", absl::StrCat(kWait, R"(
      echo 'installing cmake'
      until_said 'installing cmake'
      echo '[10/40] Building CXX object a.o'
      until_said 'part 10 of 40'
      sleep 2
      echo '[30/40] Building CXX object b.o'
      until_said 'part 30 of 40')"));
  EXPECT_EQ(ran.status, 0);
  EXPECT_THAT(ran.said, HasSubstr("preparing: "));
  EXPECT_THAT(ran.said, HasSubstr("building: part 10 of 40 (25%), "));
  EXPECT_THAT(ran.said, HasSubstr("building: part 30 of 40 (75%), "));
  EXPECT_THAT(ran.said, testing::ContainsRegex("part 30 of 40 .75%., [0-9:]+ so far, about [0-9:]+ left"));
}

TEST(Progress, TellsOfAFailureItsOutputTheLogAndTheCommand) {
  const Ran ran = Progress("fails", "echo '[1/2] a.o'\necho 'a.cc:1: error: no such thing'\nexit 7\n");
  EXPECT_EQ(ran.status, 7);
  EXPECT_THAT(ran.said, HasSubstr("the last lines of log:"));
  EXPECT_THAT(ran.said, HasSubstr("a.cc:1: error: no such thing"));
  EXPECT_THAT(ran.said, HasSubstr("failed with status 7"));
  EXPECT_THAT(ran.said, HasSubstr("'bash' 'fake'"));
}

TEST(Progress, SaysNothingOfWhatEndsAtOnce) {
  const Ran ran = Progress("quick", "echo done\n");
  EXPECT_EQ(ran.status, 0);
  EXPECT_THAT(ran.said, Not(HasSubstr("failed")));
}

}  // namespace
}  // namespace kiln
