#include <gmock/gmock.h>

#include <set>

#include "build_info.h"
#include "test_paths.h"
#include "tests/support/golden.h"
#include "tests/support/run_kiln.h"

namespace kiln {
namespace {

using ::testing::HasSubstr;
using ::testing::MatchesRegex;

const std::string kMatmul = std::string(KILN_SOURCE_DIR) + "/examples/matmul.mlir";

TEST(Command, HelpNamesTheCommands) {
  const Ran ran = RunKiln({"--help"});
  EXPECT_EQ(ran.exit_code, 0);
  ExpectGolden("kiln_help.txt", ran.out);
}

TEST(Command, EveryCommandHasHelpWithAnExample) {
  std::string all;
  for (const char* command : {"tune", "best", "show", "replay", "export", "race", "bench", "check", "train",
                              "space", "log", "doctor"}) {
    const Ran ran = RunKiln({command, "--help"});
    EXPECT_EQ(ran.exit_code, 0) << command;
    EXPECT_THAT(ran.out, HasSubstr(std::string("Example: kiln ") + command));
    all += ran.out + "\n";
  }
  ExpectGolden("kiln_help_commands.txt", all);
}

TEST(Command, VersionsAreThoseOfKilnLlvmAndXgboost) {
  const Ran ran = RunKiln({"--version"});
  EXPECT_EQ(ran.exit_code, 0);
  EXPECT_THAT(ran.out, MatchesRegex("kiln " KILN_VERSION "\nLLVM 22\\.[0-9.]+\nXGBoost [0-9.]+\n"));
}

TEST(Command, MistakesInTheCommandLineExitWithTwo) {
  const std::vector<std::vector<std::string>> lines = {
      {},
      {"bake"},
      {"tune"},
      {"tune", kMatmul, "--trials", "-1"},
      {"tune", kMatmul, "--trials", "many"},
      {"tune", kMatmul, "--seed", "-1"},
      {"tune", kMatmul, "--time", "-3"},
      {"tune", kMatmul, "--target", "toaster"},
      {"tune", kMatmul, "--no-such-option"},
      {"tune", kMatmul, "--cost-model", "oracle"},
      {"tune", kMatmul, "--cost-model", "roofline", "--features", "configuration"},
      {"show", "seven"},
      {"show", "7", "--stage", "poem"},
      {"space", kMatmul, "--space", "cpu |"},
      {"space", kMatmul, "--space", "each-block(bake)"},
      {"space", kMatmul, "--task", "nobody"},
      {"tune", kMatmul, "--strategy", "luck"},
      {"tune", kMatmul, "--until-roofline", "-1"},
      {"log", "kiln.db", "--run", "-1"},
  };
  for (const std::vector<std::string>& line : lines) {
    const Ran ran = RunKiln(line);
    EXPECT_EQ(ran.exit_code, 2) << testing::PrintToString(line) << ran.err;
    EXPECT_NE(ran.err, "") << testing::PrintToString(line);
  }
}

TEST(Command, MistakesGetASentence) {
  const std::vector<std::pair<std::vector<std::string>, const char*>> lines = {
      {{"tun"}, "there is no command tun; did you mean tune?"},
      {{"exprot", "3"}, "did you mean export?"},
      {{"tune"}, "FILE is required\nExample: kiln tune model.mlir"},
      {{"show"}, "WHAT is required\nExample: kiln show"},
      {{"tune", kMatmul, "--seed", "-1"}, "it must be a number of at least 0"},
      {{"tune", kMatmul, "--time", "nan"}, "\"nan\" is given; it must be a number from 0"},
      {{"space", kMatmul, "--function", "f"}, "choose one with --function NAME, among matmul"},
  };
  for (const auto& [line, sentence] : lines)
    EXPECT_THAT(RunKiln(line).err, HasSubstr(sentence)) << testing::PrintToString(line);
}

TEST(Command, ASpaceThatDoesNotParseSaysWhere) {
  EXPECT_THAT(RunKiln({"space", kMatmul, "--space", "each-block(bake)"}).err,
              HasSubstr("space:1:16: unknown module \"bake\"; known: each-block, add-rfactor,"));
}

struct BadFile {
  const char* name;
  const char* text;
  const char* message;
};

TEST(Command, FilesThatAreNoInputExitWithOneAndSayWhy) {
  const TemporaryFolder folder;
  const BadFile files[] = {
      {"garbage.mlir", "what is this", "garbage.mlir:1:1: "},
      {"empty.mlir", "", "empty.mlir"},
      {"op.mlir",
       "func.func @f(%a: tensor<4xf32>, %i: index) -> f32 {\n"
       "  %x = tensor.extract %a[%i] : tensor<4xf32>\n"
       "  return %x : f32\n}",
       "op.mlir:"},
  };
  for (const BadFile& file : files) {
    const Ran ran = RunKiln({"space", folder.Write(file.name, file.text)});
    EXPECT_EQ(ran.exit_code, 1) << file.name << ran.out;
    EXPECT_THAT(ran.err, HasSubstr(file.message));
  }
  EXPECT_THAT(RunKiln({"tune", folder / "missing.mlir"}).err,
              HasSubstr("missing.mlir: there is no such file"));
  EXPECT_THAT(RunKiln({"tune", folder.path()}).err, HasSubstr("is a directory"));
  EXPECT_EQ(RunKiln({"tune", folder.path()}).exit_code, 1);
}

TEST(Command, TuneOfAFileWithoutElementsSaysThatThereIsNothingToDo) {
  const TemporaryFolder folder;
  const std::string file =
      folder.Write("empty.mlir", R"(func.func @f(%x: tensor<0x6xf32>) -> tensor<0x6xf32> {
  %e = tensor.empty() : tensor<0x6xf32>
  %r = linalg.exp ins(%x : tensor<0x6xf32>) outs(%e : tensor<0x6xf32>) -> tensor<0x6xf32>
  return %r : tensor<0x6xf32>
})");
  const std::string wanted = file + ":1:1: nothing to do: the function \"f\" has no elements to compute";
  const Ran text = RunKiln({"tune", file, "--db", folder / "a.db"});
  EXPECT_EQ(text.exit_code, 0) << text.err;
  EXPECT_EQ(text.out, "kiln: " + wanted + "\n");
  const Ran json = RunKiln({"tune", file, "--db", folder / "a.db", "--json"});
  EXPECT_EQ(json.exit_code, 0) << json.err;
  EXPECT_EQ(json.json()["nothing"], wanted);
  EXPECT_TRUE(json.json()["tasks"].empty());
  EXPECT_EQ(RunKiln({"space", file}).exit_code, 1);
}

TEST(Command, OperationsThatAreNotSupportedAreNamedWithTheirPlace) {
  const Ran ran =
      RunKiln({"space", std::string(KILN_SOURCE_DIR) + "/tests/inputs/unsupported/jax_sort.mlir"});
  EXPECT_EQ(ran.exit_code, 1);
  EXPECT_THAT(ran.err, HasSubstr("jax_sort.mlir:12:26: stablehlo.sort is not supported"));
}

TEST(Command, DatabasesAreCheckedBeforeTheyAreRead) {
  const TemporaryFolder folder;
  const std::string garbage = folder.Write("garbage.db", std::string(5000, 'x'));
  for (const char* command : {"best", "show", "replay", "export"}) {
    std::vector<std::string> line = {command, "--db", folder / "none.db"};
    if (std::string(command) != "best") line.push_back("1");
    const Ran missing = RunKiln(line);
    EXPECT_EQ(missing.exit_code, 1);
    EXPECT_THAT(missing.err, HasSubstr("none.db: there is no such database"));
    line[2] = garbage;
    const Ran damaged = RunKiln(line);
    EXPECT_EQ(damaged.exit_code, 1);
    EXPECT_THAT(damaged.err, HasSubstr("garbage.db"));
  }
}

TEST(Command, DoctorTellsWhatDisturbsAndWhatToDoAboutIt) {
  const Ran ran = RunKiln({"doctor", "--json"});
  EXPECT_EQ(ran.exit_code, 0) << ran.err;
  const nlohmann::json findings = ran.json();
  ASSERT_TRUE(findings.is_array()) << ran.out;
  std::set<std::string> what;
  for (const nlohmann::json& finding : findings) {
    what.insert(finding.value("what", ""));
    EXPECT_FALSE(finding.value("found", "").empty()) << finding;
    EXPECT_EQ(finding.at("disturbs").get<bool>(), !finding.value("advice", "").empty()) << finding;
  }
  EXPECT_TRUE(what.contains("load")) << ran.out;
  EXPECT_EQ(what.size(), findings.size());
}

TEST(Command, DoctorTellsTheConstantsOfTheMachineWithTheirOrigin) {
  const Ran ran = RunKiln({"doctor", "--constants", "--json"});
  EXPECT_EQ(ran.exit_code, 0) << ran.err;
  ASSERT_FALSE(ran.json().empty());
  for (const nlohmann::json& constant : ran.json())
    for (const char* word : {"name", "unit", "machine", "command"})
      EXPECT_FALSE(constant.value(word, "").empty()) << constant;
  EXPECT_THAT(RunKiln({"doctor", "--constants"}).out, HasSubstr("load-ports"));
}

TEST(Command, APolicyThatThereIsNoneOfIsRefusedWithTheList) {
  const Ran ran = RunKiln({"space", kMatmul, "--without", "prefetch"});
  EXPECT_EQ(ran.exit_code, 2);
  EXPECT_THAT(ran.err, HasSubstr("unknown policy \"prefetch\"; known: merge-dims, forward-copies,"));
}

TEST(Command, ErrorsAreJsonToo) {
  const Ran ran = RunKiln({"space", "missing.mlir", "--json"});
  EXPECT_EQ(ran.exit_code, 1);
  EXPECT_EQ(ran.json()["error"], "missing.mlir: there is no such file");
}

}  // namespace
}  // namespace kiln
