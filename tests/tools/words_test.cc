// Tests the input files of commands (standard input, byte order marks, wrong formats), small limits of the shell
// (ulimit), and the messages about both.
#include <gmock/gmock.h>

#include <csignal>
#include <cstdlib>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/time/clock.h"
#include "backends/cpu/cores.h"
#include "test_paths.h"
#include "tests/support/run_kiln.h"

namespace kiln {
namespace {

using ::testing::AllOf;
using ::testing::AnyOf;
using ::testing::HasSubstr;

const std::string kInputs = std::string(KILN_SOURCE_DIR) + "/tests/inputs/";
const std::string kSeveral = kInputs + "field/several_functions.mlir";
const std::string kOneTask = kInputs + "ops/torch_softmax.mlir";
constexpr char kMark[] = "\xEF\xBB\xBF";  // the byte-order mark

constexpr char kSum[] =
    "func.func @sum(%a: tensor<40x40xf32>, %b: tensor<40x40xf32>) -> tensor<40x40xf32> {\n"
    "  %e = tensor.empty() : tensor<40x40xf32>\n"
    "  %r = linalg.add ins(%a, %b : tensor<40x40xf32>, tensor<40x40xf32>) outs(%e : tensor<40x40xf32>) -> "
    "tensor<40x40xf32>\n"
    "  return %r : tensor<40x40xf32>\n}\n";

class Words : public testing::Test {
 protected:
  // Runs a line of bash in the folder of the test, where `kiln` runs the built command. Returns exit code, output and
  // errors.
  Ran Shell(const std::string& line) const {
    const std::string script = absl::StrCat("cd ", folder_.path(), "; kiln() { ", KILN_BUILD_DIR,
                                            "/kiln \"$@\"; }; { ", line, "; } >out 2>err");
    const int status = std::system(absl::StrCat("bash -c '", script, "'").c_str());
    return {WIFEXITED(status) ? WEXITSTATUS(status) : -1, ReadText(folder_ / "out"),
            ReadText(folder_ / "err")};
  }
  const TemporaryFolder folder_;
};

TEST_F(Words, EveryCommandThatTakesAProgramTakesStandardInput) {
  folder_.Write("sum.mlir", kSum);
  folder_.Write("none.trace", "kiln.trace v2\n");
  const std::pair<const char*, const char*> lines[] = {
      {"kiln space - < sum.mlir", "sum   1 "},
      {"kiln tune - --trials 2 < sum.mlir", "sum\n  best "},
      {"kiln bench - --rounds 2 < sum.mlir", "sum   record "},
      {"kiln check - none.trace < sum.mlir", "sum: proven"},
  };
  for (const auto& [line, says] : lines) {
    const Ran ran = Shell(line);
    EXPECT_EQ(ran.exit_code, 0) << line << ran.err;
    EXPECT_THAT(ran.out, HasSubstr(says)) << line;
  }
}

TEST_F(Words, AByteOrderMarkIsSkipped) {
  folder_.Write("sum.mlir", absl::StrCat(kMark, kSum));
  folder_.Write("none.trace", absl::StrCat(kMark, "kiln.trace v2\n"));
  const Ran checked = Shell("kiln check sum.mlir none.trace");
  EXPECT_EQ(checked.out, "sum: proven\n") << checked.err;
  EXPECT_EQ(Shell("kiln check - none.trace < sum.mlir").exit_code, 0);
  const Ran tuned = Shell("kiln tune sum.mlir --trials 1 --start none.trace --json");
  EXPECT_EQ(tuned.exit_code, 0) << tuned.err;
}

TEST_F(Words, AFunctionOfSeveralIsChosenByName) {
  const Ran none = RunKiln({"space", kSeveral});
  EXPECT_EQ(none.exit_code, 1);
  EXPECT_THAT(none.err, HasSubstr("several public functions\n  hint: choose one with --function NAME, among "
                                  "first, second"));
  for (const char* name : {"first", "second"}) {
    const Ran one = RunKiln({"space", kSeveral, "--function", name, "--json"});
    EXPECT_EQ(one.exit_code, 0) << one.err;
    EXPECT_EQ(one.json()["tasks"][0]["name"], name);
  }
  EXPECT_THAT(RunKiln({"space", kSeveral, "--function", "third"}).err,
              HasSubstr("no public function \"third\"\n  hint: choose one with --function NAME, among first, "
                        "second"));
}

TEST_F(Words, FilesOfOtherFormsAreNamed) {
  const auto zip = [](const std::string& name) {
    std::string bytes = absl::StrCat("PK\x03\x04", std::string(26, '\0'), name);
    bytes[26] = static_cast<char>(name.size());
    return bytes;
  };
  const std::string header = R"({"w":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}})";
  const std::string safetensors =
      absl::StrCat(std::string(1, static_cast<char>(header.size())), std::string(7, '\0'), header, "abcd");
  const std::pair<std::string, const char*> files[] = {
      {std::string("\x08\x08\x3A\x02\x0A\x00", 6), "an ONNX model"},
      {std::string("\x1C\0\0\0TFL3\x14\0", 10), "a TFLite model"},
      {safetensors, "a safetensors file of weights"},
      {zip("m/archive_format"), "a PyTorch program of torch.export (.pt2)"},
  };
  for (const auto& [bytes, is] : files) {
    const std::string path = folder_.Write("model", bytes);
    for (const std::string& line : {std::string("kiln tune model"), std::string("kiln space - < model")}) {
      const Ran ran = Shell(line);
      EXPECT_EQ(ran.exit_code, 1);
      EXPECT_THAT(ran.err, AllOf(HasSubstr(absl::StrCat(": ", is, "; Kiln reads linalg on tensors")),
                                 HasSubstr("\n  hint: ")))
          << line;
    }
  }
}

TEST_F(Words, MoreThreadsThanCoresSayHowManyThereAre) {
  const int cores = static_cast<int>(UsableCores().size());
  const std::string wanted =
      absl::StrCat("kiln: --threads 4000: only ", cores, cores == 1 ? " core" : " cores",
                   " may be used here, so programs run on ", cores, "\n");
  folder_.Write("sum.mlir", kSum);
  for (const char* line :
       {"kiln tune sum.mlir --trials 1 --threads 4000 --quiet", "kiln space sum.mlir --threads 4000"}) {
    const Ran ran = Shell(line);
    EXPECT_EQ(ran.exit_code, 0) << ran.err;
    EXPECT_EQ(ran.err, wanted) << line;
  }
}

TEST_F(Words, HangingUpSaysHowToGoOn) {
  const std::vector<std::string> line = {"tune", std::string(KILN_SOURCE_DIR) + "/examples/matmul.mlir",
                                         "--trials", "4000", "--json"};
  const std::string command = absl::StrCat("kiln ", absl::StrJoin(line, " "));
  KilnProcess tune(line, folder_.path());
  for (int i = 0; i < 1200 && !absl::StrContains(tune.Errors(), "/4000]"); ++i)
    absl::SleepFor(absl::Milliseconds(50));
  kill(tune.pid(), SIGHUP);
  const Ran ran = tune.Wait();
  EXPECT_EQ(ran.exit_code, 3) << ran.err;
  EXPECT_THAT(ran.err, HasSubstr("kiln: interrupted during "));
  EXPECT_THAT(ran.err, HasSubstr(absl::StrCat("; go on with\n  ", command, "\n")));
  EXPECT_EQ(ran.json()["resume"], command);
}

class Limits : public Words {
 protected:
  Limits() {
    folder_.Write("sum.mlir", kSum);
    folder_.Write("none.trace", "kiln.trace v2\n");
    EXPECT_EQ(Shell("kiln tune sum.mlir --trials 2").exit_code, 0);
  }
  static constexpr const char* kLines[] = {"kiln space sum.mlir",
                                           "kiln tune sum.mlir --trials 4 --db other.db",
                                           "kiln best",
                                           "kiln bench sum.mlir --rounds 2",
                                           "kiln show 1",
                                           "kiln replay 1",
                                           "kiln export 1 -o out1",
                                           "kiln check sum.mlir none.trace",
                                           "kiln log kiln.db",
                                           "kiln train -o model"};
};

TEST_F(Limits, ASmallStackIsToldToEveryCommand) {
  for (const char* line : kLines) {
    const Ran ran = Shell(absl::StrCat("ulimit -s 64; ", line));
    EXPECT_EQ(ran.exit_code, 1) << line;
    EXPECT_EQ(ran.err,
              "kiln: the stack is limited to 64 KiB, and Kiln needs 1024 KiB; type `ulimit -s 8192` in a new "
              "shell\n");
  }
}

TEST_F(Limits, ASmallStackThatMayGrowGrows) {
  for (const char* line : kLines) {
    const Ran ran = Shell(absl::StrCat("ulimit -S -s 64; ", line));
    EXPECT_EQ(ran.exit_code, 0) << line << ran.err;
  }
}

// Runs each command with file sizes limited to 64, 4 and 1 KiB. Expects that it succeeds, or prints a message that
// names the limit.
TEST_F(Limits, SmallFilesEndInASentence) {
  for (const int kilobytes : {64, 4, 1}) {
    for (const char* line : kLines) {
      const Ran ran = Shell(absl::StrCat("ulimit -f ", kilobytes, "; ", line));
      EXPECT_THAT(ran.exit_code, AnyOf(0, 1)) << kilobytes << " " << line << ran.err;
      if (ran.exit_code == 0) continue;
      EXPECT_THAT(ran.err, AllOf(HasSubstr("kiln: "), AnyOf(HasSubstr("ulimit -f"), HasSubstr("too large"))))
          << kilobytes << " " << line;
    }
  }
  const std::string resnet = kInputs + "models/torch_resnet18.mlir";
  const Ran out = Shell(absl::StrCat("ulimit -f 1; kiln space --json ", resnet));
  EXPECT_EQ(out.exit_code, 1);
  EXPECT_THAT(out.err, HasSubstr("kiln: standard output cannot be written"));
  const Ran in = Shell(absl::StrCat("ulimit -f 1; kiln space - < ", resnet));
  EXPECT_EQ(in.exit_code, 1);
  EXPECT_THAT(in.err, HasSubstr("kiln: cannot read standard input: File too large"));
}

TEST_F(Limits, OfFilesAreToldByTheirChildren) {
  std::string large = kSum;
  for (size_t at; (at = large.find("40x40")) != std::string::npos;) large.replace(at, 5, "300x300");
  folder_.Write("large.mlir", large);
  const std::pair<const char*, const char*> lines[] = {
      {"ulimit -f 256; kiln bench large.mlir --rounds 2",
       "/outputs: File too large; check the disk and `ulimit -f`"},
      {"ulimit -f 4; XDG_CACHE_HOME=cache kiln space sum.mlir --plugin " KILN_SOURCE_DIR
       "/examples/innermost_tile.cc",
       "check the disk, the memory and `ulimit -f`"},
  };
  for (const auto& [line, says] : lines) {
    const Ran ran = Shell(line);
    EXPECT_EQ(ran.exit_code, 1) << line << ran.out;
    EXPECT_THAT(ran.err, HasSubstr(says)) << line;
  }
}

}  // namespace
}  // namespace kiln
