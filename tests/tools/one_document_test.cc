// Tests that commands with --json print exactly one JSON document to standard output, also if they fail.
#include <gmock/gmock.h>

#include "absl/strings/str_join.h"
#include "test_paths.h"
#include "tests/support/run_kiln.h"

namespace kiln {
namespace {

using ::testing::HasSubstr;

std::vector<std::vector<std::string>> FailingLines(const TemporaryFolder& folder) {
  const std::string matmul = std::string(KILN_SOURCE_DIR) + "/examples/matmul.mlir";
  const std::string inputs = std::string(KILN_SOURCE_DIR) + "/tests/inputs/";
  const std::string db = folder / "none.db", text = folder.Write("text.mlir", "this is no MLIR"),
                    empty = folder.Write("empty.mlir", ""),
                    binary = folder.Write("binary.mlir", "\x7f\x45\x4c\x46\x02"),
                    no_db = folder.Write("text.db", "this is no database");
  const std::string nothing = folder.Write("nothing.mlir", "func.func @f(%a: tensor<4xf32>) { return }");
  const std::string two = inputs + "field/several_functions.mlir";
  std::vector<std::vector<std::string>> lines = {
      {"tune"},
      {"best", "extra"},
      {"show"},
      {"show", "seven"},
      {"replay"},
      {"export"},
      {"bench"},
      {"check"},
      {"check", matmul},
      {"train"},
      {"space"},
      {"tun", matmul},
      {"tune", matmul, "--trials", "0", "--db", folder / "empty.db"},
      {"tune", matmul, "--trials", "many"},
      {"tune", matmul, "--seed", "-1"},
      {"tune", matmul, "--time", "nan"},
      {"tune", matmul, "--target", "toaster"},
      {"tune", matmul, "--no-such-option"},
      {"tune", matmul, "--cost-model", "oracle"},
      {"tune", matmul, "--strategy", "luck"},
      {"space", matmul, "--space", "cpu |"},
      {"space", matmul, "--space", "each-block(bake)"},
      {"space", matmul, "--task", "nobody"},
      {"tune", matmul, "--start", folder / "absent.trace", "--db", folder / "a.db"},
      {"tune", matmul, "--plugin", folder / "absent.so", "--db", folder / "b.db"},
      {"tune", matmul, "--db", folder / "absent/kiln.db"},
      {"tune", matmul, "--db", no_db},
      {"best", "--db", db},
      {"best", "--db", no_db},
      {"log", db},
      {"show", "1", "--db", db},
      {"replay", "1", "--db", db},
      {"export", "1", "--db", db, "-o", folder / "out"},
      {"train", "--db", db, "-o", folder / "model"},
      {"check", matmul, folder / "absent.trace"},
  };
  for (const std::string& file :
       {folder / "absent.mlir", text, empty, binary, nothing, two, folder.path(),
        inputs + "unsupported/jax_sort.mlir", inputs + "unsupported/torch_cumsum.mlir"}) {
    lines.push_back({"space", file});
    lines.push_back({"tune", file, "--db", folder / "c.db", "--trials", "2"});
  }
  return lines;
}

TEST(OneDocument, FailingCommandsPrintOneWithTheError) {
  const TemporaryFolder folder;
  const auto lines = FailingLines(folder);
  ASSERT_GE(lines.size(), 40u);
  for (std::vector<std::string> line : lines) {
    line.push_back("--json");
    SCOPED_TRACE(absl::StrJoin(line, " "));
    const Ran ran = RunKiln(line);
    EXPECT_NE(ran.exit_code, 0);
    EXPECT_NE(ran.exit_code, -1);
    ASSERT_FALSE(ran.json().is_discarded()) << ran.out;
    ASSERT_TRUE(ran.json().contains("error")) << ran.out;
    EXPECT_FALSE(ran.json()["error"].get<std::string>().empty());
    EXPECT_THAT(ran.err, HasSubstr("kiln: "));
  }
}

TEST(OneDocument, AFullDeviceFailsTheCommand) {
  const TemporaryFolder folder;
  const std::string kiln = std::string(KILN_BUILD_DIR) + "/kiln";
  for (const char* arguments : {" --help", " space examples/matmul.mlir", " best --help"}) {
    const std::string line =
        "cd " KILN_SOURCE_DIR " && " + kiln + arguments + " >/dev/full 2>" + (folder / "err");
    const int status = std::system(line.c_str());
    EXPECT_EQ(WEXITSTATUS(status), 1) << arguments;
    EXPECT_THAT(ReadText(folder / "err"), HasSubstr("standard output cannot be written")) << arguments;
  }
}

}  // namespace
}  // namespace kiln
