// Tests the option --inputs, which names the arguments of a model that are inputs. The other arguments then become
// constants.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "api/internal/run_text.h"
#include "test_paths.h"
#include "tests/api/small_files.h"
#include "tests/support/run_kiln.h"

namespace kiln {
namespace {

using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::Not;

const std::string kDqn = std::string(KILN_SOURCE_DIR) + "/tests/inputs/models/onnx_dqn.mlir";

TEST(Inputs, AreRolesOfTheTasksOfAModel) {
  const auto roles = [](const std::vector<std::string>& options) {
    std::vector<std::string> line = {"space", kDqn, "--limit", "1", "--json"};
    line.insert(line.end(), options.begin(), options.end());
    std::string roles;
    const nlohmann::json json = RunKiln(line).json();
    for (const auto& parameter : json["tasks"][0]["parameters"])
      roles += parameter["role"].get<std::string>() + " ";
    return roles;
  };
  EXPECT_EQ(roles({}), "input input output ");
  EXPECT_EQ(roles({"--inputs", "1"}), "input constant output ");
}

TEST(Inputs, AreAskedForIfAModelHasManyArgumentsAndNoConstant) {
  const auto errors = [](const std::vector<std::string>& options) {
    std::vector<std::string> line = {"space", kDqn, "--limit", "1", "--summary"};
    line.insert(line.end(), options.begin(), options.end());
    return RunKiln(line).err;
  };
  EXPECT_THAT(errors({}),
              HasSubstr("kiln: note: all 9 arguments of the model are inputs; if some are weights, say which "
                        "are not: --inputs 1 (only the first), or their names, --inputs x,y\n"));
  EXPECT_THAT(errors({"--inputs", "1"}), Not(HasSubstr("note:")));
}

TEST(Inputs, ThatAreWrongAreRefused) {
  const TemporaryFolder folder;
  folder.Write("add.mlir", api::kAdd);
  const Ran ran = RunKiln({"space", "add.mlir", "--inputs", "left,center"}, folder.path());
  EXPECT_EQ(ran.exit_code, 1);
  EXPECT_THAT(ran.err, HasSubstr("add.mlir: inputs: unknown argument \"center\"; known: left, right"));
  EXPECT_THAT(RunKiln({"tune", "add.mlir", "--inputs", "7"}, folder.path()).err,
              HasSubstr("add.mlir: inputs: 7 is given; the first arguments, 1 to 2 of them, can be inputs"));
}

TEST(Inputs, MakeASearchOfItsOwn) {
  const TemporaryFolder folder;
  folder.Write("add.mlir", api::kAdd);
  const auto task = [&](const std::vector<std::string>& options) {
    std::vector<std::string> line = {"tune", "add.mlir", "--trials", "2", "--json"};
    line.insert(line.end(), options.begin(), options.end());
    const Ran ran = RunKiln(line, folder.path());
    EXPECT_EQ(ran.exit_code, 0) << ran.err;
    return ran.json()["tasks"][0];
  };
  task({});
  const nlohmann::json left = task({"--inputs", " %left "});
  EXPECT_EQ(left["parameters"][1]["role"], "constant");
  EXPECT_GT(left["trials"].get<double>(), 0) << "no record of the other roles serves it";
  EXPECT_EQ(RunKiln({"best", "--json"}, folder.path()).json().size(), 2);
  const nlohmann::json runs = RunKiln({"log", "--json"}, folder.path()).json();
  EXPECT_THAT(runs[0]["command"].get<std::string>(), EndsWith(" --seed 0"));
  EXPECT_THAT(runs[1]["command"].get<std::string>(), EndsWith(" --seed 0 --inputs left"));
}

TEST(Inputs, ArePartOfTheTextOfARun) {
  api::Input input;
  input.source.path = "/a.mlir";
  input.inputs = {"x", "arg3"};
  EXPECT_EQ(api::RunText({}, input), "kiln tune /a.mlir --trials 1000 --seed 0 --inputs x,arg3");
}

}  // namespace
}  // namespace kiln
