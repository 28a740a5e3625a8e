// Tests `kiln show` and `kiln tune` for a GPU without having one: stages up to cubin and SASS, and searches by
// estimated cycles.
#include <gmock/gmock.h>
#include <signal.h>

#include <chrono>
#include <filesystem>
#include <thread>

#include "absl/strings/str_cat.h"
#include "tests/support/product_mlir.h"
#include "tests/support/run_kiln.h"

namespace kiln {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

class Gpu : public testing::Test {
 protected:
  Gpu() { folder_.Write("product.mlir", kProduct); }
  Ran Kiln(const std::vector<std::string>& arguments) const { return RunKiln(arguments, folder_.path()); }
  std::vector<std::string> Tune(const std::string& db, std::vector<std::string> more = {}) const {
    std::vector<std::string> arguments = {
        "tune", "product.mlir", "--target", "h100", "--trials", "24", "--seed", "3", "--db", db, "--static"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return arguments;
  }
  // Returns, as text to compare, the best records of a database with their traces, and the trials, failures and best
  // cycles of each round.
  std::string Records(const std::string& db) const {
    nlohmann::json best = Kiln({"best", "--db", db, "--json"}).json();
    std::string text = best.dump();
    for (const auto& record : best)
      text += Kiln({"show", absl::StrCat(record["id"].get<int64_t>()), "--db", db, "--stage", "trace"}).out;
    for (const auto& round : Kiln({"log", db, "--json"}).json()[0]["rounds"])
      text += absl::StrCat("\n", round["trials"].dump(), " ", round["failed"].dump(), " ",
                           round["best_cycles"].dump());
    return text;
  }
  const TemporaryFolder folder_;
};

TEST_F(Gpu, ShowHasTheStagesOfAFile) {
  for (const auto& [stage, text] : {std::pair{"program", "block-x"},
                                    {"trace", "bind-rest 528 256"},
                                    {"plan", "block-x"},
                                    {"mlir", "func.func @kernel_0"},
                                    {"nvvm", "nvvm.kernel"},
                                    {"llvm", "nvptx64-nvidia-cuda"},
                                    {"ptx", ".target sm_90a"}}) {
    const Ran shown = Kiln({"show", "product.mlir", "--target", "h100", "--stage", stage});
    EXPECT_EQ(shown.exit_code, 0) << shown.err;
    EXPECT_THAT(shown.out, HasSubstr(text));
  }
  setenv("KILN_NVDISASM", "/nowhere/nvdisasm", 1);
  setenv("KILN_CUOBJDUMP", "/nowhere/cuobjdump", 1);
  const Ran sass = Kiln({"show", "product.mlir", "--target", "h100", "--stage", "sass"});
  unsetenv("KILN_NVDISASM");
  unsetenv("KILN_CUOBJDUMP");
  EXPECT_EQ(sass.exit_code, 1);
  EXPECT_THAT(sass.err,
              AllOf(HasSubstr("looked for /nowhere/nvdisasm"), HasSubstr("looked for /nowhere/cuobjdump")));
  const Ran of_cpu = Kiln({"show", "product.mlir", "--stage", "ptx"});
  EXPECT_EQ(of_cpu.exit_code, 2);
  EXPECT_THAT(of_cpu.err, HasSubstr("the stage ptx is of GPUs; --target names one"));
}

// Puts a shell script in place of NVIDIA's disassembler nvdisasm, which reports its arguments. Tests that `kiln show
// --stage sass` gives it the cubin, prints its output, and reports its failure.
TEST_F(Gpu, ShowPrintsWhatNvdisasmMakesOfTheCubin) {
  const std::string tool = folder_.Write("nvdisasm", R"(#!/bin/sh
echo "$# argument, $(head -c 4 "$1" | tail -c 3), $(grep -ac kernel_0 "$1" | sed 's/[1-9][0-9]*/some/') kernel_0"
)");
  std::filesystem::permissions(tool, std::filesystem::perms::owner_all);
  setenv("KILN_NVDISASM", tool.c_str(), 1);
  const Ran sass = Kiln({"show", "product.mlir", "--target", "h100", "--stage", "sass"});
  folder_.Write("failing", "#!/bin/sh\necho no such instruction\nexit 3\n");
  std::filesystem::permissions(folder_ / "failing", std::filesystem::perms::owner_all);
  setenv("KILN_NVDISASM", (folder_ / "failing").c_str(), 1);
  const Ran failed = Kiln({"show", "product.mlir", "--target", "h100", "--stage", "sass"});
  unsetenv("KILN_NVDISASM");
  EXPECT_EQ(sass.exit_code, 0) << sass.err;
  EXPECT_EQ(sass.out, "1 argument, ELF, some kernel_0\n");
  EXPECT_EQ(failed.exit_code, 1);
  EXPECT_THAT(failed.err, HasSubstr("failing failed with status 3: no such instruction"));
}

TEST_F(Gpu, ShowTakesATrace) {
  folder_.Write(
      "bound.trace",
      "kiln.trace v2\nb0 = get-block \"matmul\"\nl0, l1, l2 = get-loops b0\nbind l0 \"thread-x\"\n");
  const Ran shown =
      Kiln({"show", "product.mlir", "--trace", "bound.trace", "--target", "a100", "--stage", "ptx"});
  EXPECT_EQ(shown.exit_code, 0) << shown.err;
  EXPECT_THAT(shown.out,
              AllOf(HasSubstr(".target sm_80"), HasSubstr(".maxntid 32"), HasSubstr(".minnctapersm 1")));
}

TEST_F(Gpu, TuneEndsWithARecordAndCubins) {
  const Ran tuned = Kiln(Tune("kiln.db", {"-o", "out"}));
  ASSERT_EQ(tuned.exit_code, 0) << tuned.err << tuned.out;
  EXPECT_THAT(tuned.err, HasSubstr("24 trials for h100 (sm_90a), static: cycles are estimates"));
  EXPECT_THAT(tuned.err, HasSubstr("kiln: no GPU measures: "));
  EXPECT_THAT(tuned.err, HasSubstr("cycles (static)"));
  EXPECT_THAT(tuned.out, HasSubstr("cycles, static: estimated, not measured"));
  EXPECT_THAT(tuned.out, HasSubstr("proven and verified"));
  for (const char* word : {" us", " ms", "GFLOP/s", "faster than", "replay"})
    EXPECT_THAT(tuned.out, Not(HasSubstr(word)));
  for (const char* file : {"product.cubin", "product.ptx", "product.trace", "product.h"})
    EXPECT_TRUE(std::filesystem::exists(folder_ / "out" + "/" + file)) << file;
  const Ran best = Kiln({"best", "--json"});
  const nlohmann::json record = best.json()[0];
  EXPECT_EQ(record["fingerprint"], "static-1 sm_90a h100");
  EXPECT_THAT(record["flags"].get<std::string>(), AllOf(HasSubstr("static"), HasSubstr("emulated")));
  EXPECT_GT(record["cycles"].get<double>(), 0);
  EXPECT_FALSE(record.contains("seconds"));
  EXPECT_THAT(Kiln({"best"}).out,
              AllOf(HasSubstr("h100 (sm_90a)"), HasSubstr("cycles"), Not(HasSubstr(" us"))));
  const std::string id = absl::StrCat(record["id"].get<int64_t>());
  EXPECT_THAT(Kiln({"show", id, "--stage", "ptx"}).out, HasSubstr(".target sm_90a"));
  EXPECT_THAT(Kiln({"replay", id}).err, HasSubstr("is static: it was estimated for static-1 sm_90a h100"));
  const Ran exported = Kiln({"export", id, "-o", "again"});
  EXPECT_EQ(exported.exit_code, 0) << exported.err;
  EXPECT_EQ(ReadText(folder_ / "again/product.cubin"), ReadText(folder_ / "out/product.cubin"));
}

TEST_F(Gpu, TuneGivesTheSameRecordsForAnyNumberOfThreadsAndAfterAKill) {
  ASSERT_EQ(Kiln(Tune("one.db", {"--threads", "1"})).exit_code, 0);
  const std::string wanted = Records("one.db");
  for (const char* threads : {"2", "4"}) {
    const std::string db = absl::StrCat(threads, ".db");
    ASSERT_EQ(Kiln(Tune(db, {"--threads", threads})).exit_code, 0);
    EXPECT_EQ(Records(db), wanted) << threads;
  }
  KilnProcess process(Tune("killed.db", {"--threads", "2", "--events", folder_ / "events"}), folder_.path());
  while (ReadText(folder_ / "events").find("\"event\":\"round\"") == std::string::npos &&
         kill(process.pid(), 0) == 0)
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  kill(process.pid(), SIGKILL);
  process.Wait();
  ASSERT_EQ(Kiln(Tune("killed.db", {"--threads", "2"})).exit_code, 0);
  EXPECT_EQ(Records("killed.db"), wanted);
}

TEST_F(Gpu, StaticRecordsServeNoCpuAndNoOtherGpu) {
  ASSERT_EQ(Kiln(Tune("kiln.db")).exit_code, 0);
  ASSERT_EQ(Kiln({"tune", "product.mlir", "--trials", "2"}).exit_code, 0);
  std::vector<std::string> h200 = Tune("kiln.db");
  h200[3] = "h200";
  ASSERT_EQ(Kiln(h200).exit_code, 0);
  EXPECT_EQ(Kiln({"best", "--json"}).json().size(), 3);
}

TEST_F(Gpu, TuneRefusesWhatIsTimed) {
  const Ran cold = Kiln(Tune("kiln.db", {"--cold"}));
  EXPECT_EQ(cold.exit_code, 2);
  EXPECT_THAT(cold.err, HasSubstr("leave them out for a GPU"));
  const Ran other = Kiln({"tune", "product.mlir", "--target", "znver4"});
  EXPECT_EQ(other.exit_code, 2);
  EXPECT_THAT(other.err, HasSubstr("programs for znver4 are not measured here; tune for host or a GPU"));
  setenv("KILN_PTXAS", "/nowhere/ptxas", 1);
  const Ran without = Kiln(Tune("kiln.db"));
  unsetenv("KILN_PTXAS");
  EXPECT_EQ(without.exit_code, 1);
  EXPECT_THAT(without.err, HasSubstr("no ptxas: install the CUDA toolkit or PyPI's nvidia-cuda-nvcc, or set "
                                     "KILN_PTXAS; looked for /nowhere/ptxas"));
}

}  // namespace
}  // namespace kiln
