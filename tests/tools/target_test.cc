// Tests the option --target, and how commands treat records that were measured on another machine.
#include <gmock/gmock.h>

#include <filesystem>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "search/database/sqlite_store.h"
#include "test_paths.h"
#include "tests/support/run_kiln.h"

namespace kiln {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

constexpr char kAdd[] =
    "func.func @add(%a: tensor<8x32xf32>, %b: tensor<8x32xf32>) -> tensor<8x32xf32> {\n"
    "  %e = tensor.empty() : tensor<8x32xf32>\n"
    "  %c = linalg.add ins(%a, %b : tensor<8x32xf32>, tensor<8x32xf32>) outs(%e : tensor<8x32xf32>) -> "
    "tensor<8x32xf32>\n  return %c : tensor<8x32xf32>\n}\n";

// Writes a copy of the database in which the records are of another machine, a CPU with AVX-512, and returns its path.
std::string AsOfAnother(const std::string& database, const std::string& copy) {
  StoreContents contents = OpenStore(database).value()->ReadAll().value();
  for (TargetRow& target : contents.targets) {
    auto text = nlohmann::ordered_json::parse(target.text);
    text["cpu"] = "x86-64-v4";
    text["features"] = "";
    target.text = text.dump();
    target.fingerprint = "Somebody's Computer";
  }
  EXPECT_EQ(OpenStore(copy).value()->Merge(contents)->added, static_cast<int>(contents.records.size()));
  return copy;
}

class Target : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    folder_ = new TemporaryFolder;
    const Ran tuned = RunKiln({"tune", folder_->Write("add.mlir", kAdd), "--trials", "2", "--db", Here()});
    ASSERT_EQ(tuned.exit_code, 0) << tuned.err;
    AsOfAnother(Here(), There());
  }
  static void TearDownTestSuite() { delete folder_; }
  static std::string Here() { return *folder_ / "here.db"; }
  static std::string There() { return *folder_ / "there.db"; }
  static std::string Id(const std::string& database) {
    return absl::StrCat(RunKiln({"best", "--db", database, "--json"}).json()[0]["id"].get<int64_t>());
  }
  static Ran On(const std::string& database, std::vector<std::string> arguments) {
    arguments.insert(arguments.begin() + 1, {Id(database), "--db", database});
    return RunKiln(arguments);
  }
  static std::string Machine(const std::string& object) {
    return ReadText(object).substr(18, 2);  // the field e_machine of an ELF header
  }

  static TemporaryFolder* folder_;
};
TemporaryFolder* Target::folder_ = nullptr;

TEST_F(Target, AnUnknownNameListsTheKnownOnes) {
  for (const char* command : {"show", "export"}) {
    const Ran ran = RunKiln({command, "1", "--target", "toaster"});
    EXPECT_EQ(ran.exit_code, 2) << command;
    EXPECT_THAT(ran.err, HasSubstr("--target: toaster not in {host,")) << command;
    EXPECT_THAT(ran.err, HasSubstr("neoverse-n1")) << command;
  }
}

TEST_F(Target, AMachineMayBeTakenAsOneWithoutSomeFeatures) {
  const char* before = std::getenv("KILN_WITHOUT");
  const std::string without = before == nullptr ? "" : before;
  setenv("KILN_WITHOUT", "avx", 1);
  const Ran poorer = On(Here(), {"show", "--stage", "asm", "--target", "host"});
  const auto best = RunKiln({"best", "--db", Here(), "--json"}).json()[0];
  setenv("KILN_WITHOUT", without.c_str(), 1);
  ASSERT_EQ(poorer.exit_code, 0) << poorer.err;
  EXPECT_THAT(poorer.out, Not(HasSubstr("ymm")));
  EXPECT_EQ(best["measured_here"], !absl::StrContains(ReadText("/proc/cpuinfo"), " avx "));
}

TEST_F(Target, SpacesAreThoseOfTheNamedMachine) {
  const auto space = [](const char* target) {
    const Ran ran = RunKiln({"space", *folder_ / "add.mlir", "--target", target, "--json"});
    EXPECT_EQ(ran.exit_code, 0) << ran.err;
    return ran.json();
  };
  EXPECT_EQ(space("icelake-server")["target"], "icelake-server");
  EXPECT_NE(space("cortex-a76")["tasks"], nullptr);
}

TEST_F(Target, BestSaysWhichRecordsAreOfAnotherMachine) {
  EXPECT_TRUE(RunKiln({"best", "--db", Here(), "--json"}).json()[0]["measured_here"]);
  EXPECT_THAT(RunKiln({"best", "--db", Here()}).out, Not(HasSubstr("another machine")));
  EXPECT_FALSE(RunKiln({"best", "--db", There(), "--json"}).json()[0]["measured_here"]);
  EXPECT_THAT(RunKiln({"best", "--db", There()}).out, HasSubstr("x86-64-v4, 1 core, another machine"));
}

TEST_F(Target, BenchTakesNoRecordOfAnotherMachine) {
  const auto record = [](const std::string& database) {
    const Ran ran = RunKiln({"bench", *folder_ / "add.mlir", "--db", database, "--rounds", "2", "--json"});
    EXPECT_EQ(ran.exit_code, 0) << ran.err;
    return ran.json()["tasks"][0]["record"].get<int64_t>();
  };
  EXPECT_GT(record(Here()), 0);
  EXPECT_EQ(record(There()), 0);
}

TEST_F(Target, CodeIsForTheMachineOfTheRecordUnlessAnotherIsWished) {
  const auto assembly = [](const std::string& database, std::vector<std::string> more) {
    more.insert(more.begin(), {"show", "--stage", "asm"});
    const Ran ran = On(database, more);
    EXPECT_EQ(ran.exit_code, 0) << ran.err;
    return ran.out;
  };
  EXPECT_THAT(assembly(There(), {"--target", "x86-64-v3"}), Not(HasSubstr("zmm")));
  EXPECT_THAT(assembly(Here(), {"--target", "aarch64"}), HasSubstr(".4s"));
  EXPECT_EQ(assembly(Here(), {}), assembly(There(), {"--target", "host"}));
  EXPECT_EQ(assembly(There(), {}), assembly(Here(), {"--target", "x86-64-v4"}));
}

TEST_F(Target, ReplayRunsARecordOfAnotherMachineOnlyIfThatIsWished) {
  const Ran refused = On(There(), {"replay"});
  EXPECT_EQ(refused.exit_code, 1);
  EXPECT_THAT(refused.err, HasSubstr("was measured on another machine (Somebody's Computer; this is "));
  const Ran wished = On(There(), {"replay", "--target", "host", "--json"});
  EXPECT_EQ(wished.exit_code, 0) << wished.err;
  EXPECT_FALSE(wished.json()["same_machine"]);
  EXPECT_EQ(On(Here(), {"replay"}).exit_code, 0);
}

TEST_F(Target, ExportIsForTheMachineOfTheRecordUnlessAnotherIsWished) {
  namespace fs = std::filesystem;
  const std::string out = *folder_ / "out";
  const Ran own = On(Here(), {"export", "-o", out});
  EXPECT_EQ(own.exit_code, 0) << own.err;
  EXPECT_EQ(own.err, "");
  EXPECT_TRUE(fs::exists(out + "/libadd.so"));

  const std::string there = *folder_ / "there";
  const Ran other = On(There(), {"export", "-o", there});
  EXPECT_EQ(other.exit_code, 0) << other.err;
  EXPECT_THAT(other.err, HasSubstr("made for the machine that it was tuned on, which is not this one"));
  EXPECT_FALSE(fs::exists(there + "/libadd.so"));
  EXPECT_THAT(ReadText(there + "/add.h"), HasSubstr("x86-64-v4"));

  const std::string arm = *folder_ / "arm";
  const Ran wished = On(Here(), {"export", "-o", arm, "--target", "aarch64", "--json"});
  EXPECT_EQ(wished.exit_code, 0) << wished.err;
  EXPECT_EQ(wished.json()["target"], "aarch64");
  EXPECT_EQ(wished.json()["files"].size(), 4);
  EXPECT_THAT(wished.err, HasSubstr("made for aarch64, as wished; it was tuned on "));
  EXPECT_EQ(Machine(arm + "/add.o"), std::string("\xb7\0", 2));
  for (const char* file : {"/add.h", "/add.mlir", "/add.trace"}) EXPECT_TRUE(fs::exists(arm + file)) << file;
  EXPECT_FALSE(fs::exists(arm + "/libadd.so"));

  const std::string here = *folder_ / "here";
  EXPECT_THAT(On(There(), {"export", "-o", here, "--target", "host"}).err, HasSubstr("as wished"));
  EXPECT_TRUE(fs::exists(here + "/libadd.so"));
}

}  // namespace
}  // namespace kiln
