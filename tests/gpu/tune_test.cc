// Runs `kiln tune`, race, replay, best and doctor with the fake CUDA driver (fake_cuda/fake_cuda.cc): searches measure
// on its GPU, and records name that GPU.
#include <gmock/gmock.h>
#include <signal.h>

#include <chrono>
#include <thread>

#include "api/session.h"
#include "search/database/sqlite_store.h"
#include "tests/gpu/on_fake_gpu.h"
#include "tests/support/product_mlir.h"
#include "tests/support/run_kiln.h"

namespace kiln {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr char kEmulated[] = "Emulated GPU, sm_90, 4 SMs";

class TuneOnGpu : public OnFakeGpu {
 protected:
  TuneOnGpu() { work_.Write("product.mlir", kProduct); }

  Ran Kiln(const std::vector<std::string>& arguments) const { return RunKiln(arguments, work_.path()); }
  std::vector<std::string> Tune(const std::string& db, int trials, std::vector<std::string> more = {}) const {
    std::vector<std::string> arguments = {
        "tune", "product.mlir", "--target", "h100", "--trials", absl::StrCat(trials), "--seed",
        "3",    "--db",         db};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return arguments;
  }
  std::vector<RecordRow> Records(const std::string& db) const {
    auto contents = (*OpenStore(work_ / db))->ReadAll();
    EXPECT_TRUE(contents.ok()) << contents.status();
    return contents.ok() ? contents->records : std::vector<RecordRow>();
  }

  // Searches with estimated times (--static) into static.db, and gives the fake driver the emulated kernels of all
  // programs that the search found. A later search that replays static.db can then run on the fake GPU.
  void PrepareStatic(int trials) {
    const Ran searched = Kiln(Tune("static.db", trials, {"--static"}));
    ASSERT_EQ(searched.exit_code, 0) << searched.err;
    EXPECT_THAT(searched.err, HasSubstr("kiln: no GPU measures: estimates were asked for"));
    const auto builders = StartBuilders();
    StandInForTheReferenceKernel(*builders);
    api::Session session;
    ASSERT_EQ(session.Load({.text = kProduct}), absl::OkStatus());
    for (const RecordRow& record : Records("static.db")) {
      EXPECT_TRUE(record.flags.is_static);
      if (record.status != "ok") continue;
      StandInForTrace(*builders, session.tasks()[0].program, record.trace);
    }
  }
  static std::vector<std::string> Replaying() { return {"--strategy", "replay", "--replay", "static.db"}; }

  const TemporaryFolder work_;
};

TEST_F(TuneOnGpu, RecordsAreMeasuredAndCanBeTimedAgain) {
  PrepareStatic(8);
  const Ran tuned = Kiln(Tune("gpu.db", 8, Replaying()));
  ASSERT_EQ(tuned.exit_code, 0) << tuned.err << tuned.out;
  EXPECT_THAT(tuned.err, HasSubstr(absl::StrCat("8 trials for h100 on ", kEmulated, ", space cuda")));
  EXPECT_THAT(tuned.out, AllOf(HasSubstr("FLOP/s"), HasSubstr("proven and verified"), HasSubstr("replay"),
                               Not(HasSubstr("static")), Not(HasSubstr("cycles"))));
  const std::vector<RecordRow> records = Records("gpu.db");
  EXPECT_GE(records.size(), 8);
  for (const RecordRow& record : records) {
    EXPECT_EQ(record.status, "ok") << record.error;
    EXPECT_TRUE(record.verified);
    EXPECT_FALSE(record.flags.is_static);
    EXPECT_GE(record.samples.size(), 1);
    EXPECT_THAT(record.facts, HasSubstr("\"registers\":"));
  }
  const nlohmann::json best = Kiln({"best", "--db", "gpu.db", "--json"}).json()[0];
  EXPECT_EQ(best["fingerprint"], kEmulated);
  EXPECT_TRUE(best["measured_here"]);
  EXPECT_GT(best["seconds"].get<double>(), 0);
  const std::string id = absl::StrCat(best["id"].get<int64_t>());
  const Ran replayed = Kiln({"replay", id, "--db", "gpu.db"});
  EXPECT_EQ(replayed.exit_code, 0) << replayed.err;
  EXPECT_THAT(replayed.out, HasSubstr("verified  its outputs agree"));
  const Ran raced = Kiln({"race", id, absl::StrCat(records[0].id), "--db", "gpu.db"});
  EXPECT_EQ(raced.exit_code, 0) << raced.err;
  EXPECT_THAT(Kiln({"race", id, "1", "--db", "gpu.db", "--db", "static.db"}).err, HasSubstr("is static"));
  setenv("LD_LIBRARY_PATH", "", 1);
  EXPECT_FALSE(Kiln({"best", "--db", "gpu.db", "--json"}).json()[0]["measured_here"]);
  EXPECT_THAT(Kiln({"replay", id, "--db", "gpu.db"}).err,
              HasSubstr(absl::StrCat("was measured on another GPU (", kEmulated, ")")));
}

// A race on a GPU also runs a single finalist, since it checks programs with more inputs than the search did. Tests
// that a search with one trial ends with a record of a race, proven and verified.
TEST_F(TuneOnGpu, ASingleFinalistIsProvenAndRaced) {
  PrepareStatic(1);
  const Ran tuned = Kiln(Tune("gpu.db", 1, Replaying()));
  ASSERT_EQ(tuned.exit_code, 0) << tuned.err << tuned.out;
  EXPECT_THAT(tuned.out, HasSubstr("proven and verified"));
  const std::vector<RecordRow> records = Records("gpu.db");
  ASSERT_EQ(records.size(), 2);
  EXPECT_FALSE(records[0].flags.race);
  EXPECT_TRUE(records[1].flags.race);
}

TEST_F(TuneOnGpu, DoctorNamesDriverDeviceAndClocks) {
  EXPECT_THAT(Kiln({"doctor"}).out,
              AllOf(HasSubstr(kEmulated), HasSubstr("CUDA 13.0"), HasSubstr("990 of 1000 MHz, 40 C")));
  setenv("KILN_FAKE_SLOWED", "0x40", 1);
  EXPECT_THAT(Kiln({"doctor"}).out, HasSubstr("slowed: too hot"));
  unsetenv("KILN_FAKE_SLOWED");
  setenv("KILN_FAKE_CUDA_INIT", "999", 1);
  EXPECT_THAT(Kiln({"doctor"}).out, HasSubstr("NVIDIA's driver fails: cuInit: "));
}

TEST_F(TuneOnGpu, AKilledSearchGoesOn) {
  constexpr int kTrials = 20;
  PrepareStatic(kTrials);
  std::vector<std::string> command = Tune("gpu.db", kTrials, Replaying());
  command.insert(command.end(), {"--events", work_ / "events"});
  KilnProcess process(command, work_.path());
  while (ReadText(work_ / "events").find("\"event\":\"round\"") == std::string::npos &&
         kill(process.pid(), 0) == 0)
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  kill(process.pid(), SIGKILL);
  process.Wait();
  const size_t before = Records("gpu.db").size();
  EXPECT_GT(before, 0);
  const Ran resumed = Kiln(Tune("gpu.db", kTrials, Replaying()));
  ASSERT_EQ(resumed.exit_code, 0) << resumed.err;
  const auto rounds = Kiln({"log", "gpu.db", "--json"}).json();
  ASSERT_EQ(rounds.size(), 1);  // one run
  EXPECT_EQ(rounds[0]["rounds"].back()["trials"], kTrials);
  EXPECT_GE(Records("gpu.db").size(), kTrials);
}

TEST_F(TuneOnGpu, AnotherGpuAndADriverThatFailsAreNamed) {
  setenv("KILN_FAKE_CUDA_SM", "80", 1);
  const Ran another = Kiln(Tune("kiln.db", 1));
  EXPECT_EQ(another.exit_code, 0) << another.err;
  EXPECT_THAT(another.err, HasSubstr("static: cycles are estimates"));
  EXPECT_THAT(another.err,
              HasSubstr("kiln: no GPU measures: the GPU of this machine is another one: Emulated "
                        "GPU, sm_80, 4 SMs"));
  setenv("KILN_FAKE_CUDA_INIT", "999", 1);
  const Ran failing = Kiln(Tune("kiln.db", 1));
  EXPECT_EQ(failing.exit_code, 1);
  EXPECT_THAT(failing.err, HasSubstr("NVIDIA's driver fails: cuInit: unknown error (CUresult 999); --static "
                                     "estimates cycles instead"));
  EXPECT_EQ(Kiln(Tune("kiln.db", 1, {"--static"})).exit_code, 0);
}

}  // namespace
}  // namespace kiln
