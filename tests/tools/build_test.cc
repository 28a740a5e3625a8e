// Tests `kiln build`, which compiles a whole model to a C header and libraries: its files, C programs that call the
// model, weights, `kiln run`, `bench --whole`, and tuning of whole models.
#include <gmock/gmock.h>
#include <sqlite3.h>

#include <csignal>
#include <filesystem>
#include <functional>
#include <thread>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "test_paths.h"
#include "tests/support/run_kiln.h"

namespace kiln {
namespace {

using ::testing::ElementsAre;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::Not;

// MLIR text of y = (x * transpose(w)) * v: a transposition and two matrix products. w and v are constants of the
// caller.
constexpr char kNet[] = R"(
func.func @net(%x: tensor<2x3xf32>, %w: tensor<4x3xf32> {kiln.constant}, %v: tensor<4x2xf32> {kiln.constant})
    -> tensor<2x2xf32> {
  %z = arith.constant 0.0 : f32
  %te = tensor.empty() : tensor<3x4xf32>
  %t = linalg.transpose ins(%w : tensor<4x3xf32>) outs(%te : tensor<3x4xf32>) permutation = [1, 0]
  %he = tensor.empty() : tensor<2x4xf32>
  %hi = linalg.fill ins(%z : f32) outs(%he : tensor<2x4xf32>) -> tensor<2x4xf32>
  %h = linalg.matmul ins(%x, %t : tensor<2x3xf32>, tensor<3x4xf32>) outs(%hi : tensor<2x4xf32>) -> tensor<2x4xf32>
  %ye = tensor.empty() : tensor<2x2xf32>
  %yi = linalg.fill ins(%z : f32) outs(%ye : tensor<2x2xf32>) -> tensor<2x2xf32>
  %y = linalg.matmul ins(%h, %v : tensor<2x4xf32>, tensor<4x2xf32>) outs(%yi : tensor<2x2xf32>) -> tensor<2x2xf32>
  return %y : tensor<2x2xf32>
}
)";

constexpr char kCaller[] =
    "#include \"net.h\""
    R"(
#include <stdio.h>
#include <stdlib.h>
int main(void) {
  float x[6], w[12], v[8], y[4];
  for (int i = 0; i < 6; ++i) x[i] = i - 2;
  for (int i = 0; i < 12; ++i) w[i] = i % 5;
  for (int i = 0; i < 8; ++i) v[i] = 3 - i;
  const void* constants[] = {w, v};
  void* weights = aligned_alloc(NET_ALIGNMENT, NET_WEIGHTS_BYTES);
  void* arena = aligned_alloc(NET_ALIGNMENT, NET_ARENA_BYTES);
  if (net_prepare(constants, weights) != 0) return 2;
  for (int i = 0; i < 12; ++i) w[i] = -1;  /* the constants are needed no longer */
  for (int i = 0; i < 8; ++i) v[i] = -1;
  if (net(weights, x, y, arena) != 0) return 3;
  for (int i = 0; i < 4; ++i) printf("%g ", y[i]);
  return 0;
}
)";

TEST(Build, ACProgramPreparesTheWeightsOnceAndCallsTheModel) {
  const TemporaryFolder folder;
  const Ran built = RunKiln(
      {"build", folder.Write("net.mlir", kNet), "-o", folder / "out", "--db", folder / "none.db", "--json"});
  ASSERT_EQ(built.exit_code, 0) << built.err;
  EXPECT_EQ(built.json()["symbol"], "net");
  EXPECT_EQ(built.json()["calls"], 3);  // two products, and the transposition in the prepare phase
  EXPECT_EQ(built.json()["tasks"][0]["schedule"], "default");

  folder.Write("use.c", kCaller);
  const std::string line =
      absl::StrCat("cd ", folder.path(), " && cc -std=c11 -Wall -Wextra -Werror -Iout use.c out/net.a",
                   " -lm -o use && ./use > said.txt");
  ASSERT_EQ(std::system(line.c_str()), 0);

  float w[12], h[8], y[4] = {};
  for (int i = 0; i < 12; ++i) w[i] = static_cast<float>(i % 5);
  for (int r = 0; r < 2; ++r) {
    for (int c = 0; c < 4; ++c) {
      h[r * 4 + c] = 0;
      for (int k = 0; k < 3; ++k) h[r * 4 + c] += static_cast<float>(r * 3 + k - 2) * w[c * 3 + k];
      for (int o = 0; o < 2; ++o) y[r * 2 + o] += h[r * 4 + c] * static_cast<float>(3 - c * 2 - o);
    }
  }
  EXPECT_EQ(ReadText(folder / "said.txt"), absl::StrCat(y[0], " ", y[1], " ", y[2], " ", y[3], " "));
}

// Returns the bytes of a .safetensors file with tensors w of 4x3 and v of 4x2 f32, with the same values as in the C
// program kCaller.
std::string Weights() {
  std::string data;
  const auto add = [&](int value) {
    const float number = static_cast<float>(value);
    data.append(reinterpret_cast<const char*>(&number), sizeof number);
  };
  for (int i = 0; i < 12; ++i) add(i % 5);
  for (int i = 0; i < 8; ++i) add(3 - i);
  const std::string header = R"({"w":{"dtype":"F32","shape":[4,3],"data_offsets":[0,48]},)"
                             R"("v":{"dtype":"F32","shape":[4,2],"data_offsets":[48,80]}})";
  const uint64_t size = header.size();
  return absl::StrCat(std::string(reinterpret_cast<const char*>(&size), sizeof size), header, data);
}

TEST(Build, WeightsThatAreGivenArePreparedWhenTheModelIsBuilt) {
  const TemporaryFolder folder;
  const std::string net = folder.Write("net.mlir", kNet), weights = folder.Write("w.safetensors", Weights());
  const Ran built =
      RunKiln({"build", net, "--weights", weights, "-o", folder / "out", "--db", folder / "none.db"});
  ASSERT_EQ(built.exit_code, 0) << built.err;
  EXPECT_THAT(ReadText(folder / "out/net.h"), HasSubstr("#define NET_WEIGHTS_OFFSET INT64_C(128)\n"));

  const Ran ran = RunKiln({"run", folder / "out/net.so", "--weights", folder / "out/net.weights", "--json"});
  EXPECT_EQ(ran.exit_code, 0) << ran.err;
  EXPECT_GT(ran.json()["seconds"]["median"].get<double>(), 0);
  EXPECT_EQ(RunKiln({"run", folder / "out/net.so"}).exit_code, 0);  // prepares drawn constants

  const Ran other = RunKiln({"run", folder / "out/net.so", "--weights", weights});
  EXPECT_EQ(other.exit_code, 2);
  EXPECT_THAT(other.err, HasSubstr("not the weights of net, wanted a tensor \"weights\" of"));
  const Ran library = RunKiln({"run", net});
  EXPECT_EQ(library.exit_code, 2);
  EXPECT_THAT(library.err, HasSubstr("not a library of `kiln build`"));
}

TEST(Build, ForAnotherMachineThereIsAStaticLibrary) {
  const TemporaryFolder folder;
  const Ran built = RunKiln({"build", folder.Write("net.mlir", kNet), "-o", folder / "out", "--db",
                             folder / "none.db", "--target", "x86-64-v3", "--name", "other", "--json"});
  ASSERT_EQ(built.exit_code, 0) << built.err;
  std::vector<std::string> files = built.json()["files"];
  EXPECT_THAT(files, ElementsAre(EndsWith("other.h"), EndsWith("other.a"), EndsWith("other.mlir"),
                                 EndsWith("other.trace")));
  EXPECT_FALSE(std::filesystem::exists(folder / "out/other.so"));
}

// The first element is 2^20 in any precision, and the others are rounded near 0.1. The error of a result is relative to
// its largest element, whether that one differs or not.
TEST(Build, TheErrorIsRelativeToTheLargestElement) {
  const TemporaryFolder folder;
  const std::string file = folder.Write("large.mlir", R"(
func.func @large(%x: tensor<64xf32>) -> tensor<64xf32> {
  %c0 = arith.constant 0 : index
  %large = arith.constant 1048576.0 : f32
  %tenth = arith.constant 0.1 : f32
  %e = tensor.empty() : tensor<64xf32>
  %y = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
      ins(%x : tensor<64xf32>) outs(%e : tensor<64xf32>) {
  ^bb0(%a: f32, %o: f32):
    %i = linalg.index 0 : index
    %first = arith.cmpi eq, %i, %c0 : index
    %m = arith.mulf %a, %tenth : f32
    %r = arith.select %first, %large, %m : f32
    linalg.yield %r : f32
  } -> tensor<64xf32>
  return %y : tensor<64xf32>
})");
  const Ran built =
      RunKiln({"build", file, "--check", "-o", folder / "out", "--db", folder / "none.db", "--json"});
  ASSERT_EQ(built.exit_code, 0) << built.err;
  EXPECT_GT(built.json()["accuracy"]["error"].get<double>(), 0);
  EXPECT_LT(built.json()["accuracy"]["error"].get<double>(), 1e-12);
}

TEST(Build, ChecksTheLibraryOnDrawnData) {
  const TemporaryFolder folder;
  const std::string net = folder.Write("net.mlir", kNet);
  const Ran built =
      RunKiln({"build", net, "--check", "-o", folder / "out", "--db", folder / "none.db", "--json"});
  ASSERT_EQ(built.exit_code, 0) << built.err;
  EXPECT_GT(built.json()["accuracy"]["error"].get<double>(), 0);
  EXPECT_LT(built.json()["accuracy"]["error"].get<double>(), 1e-6);
  EXPECT_GE(built.json()["accuracy"]["limit"].get<double>(), 1000 * std::exp2(-24));

  const Ran other = RunKiln({"build", net, "--check", "--target", "x86-64-v2", "--db", folder / "none.db"});
  EXPECT_EQ(other.exit_code, 2);
  EXPECT_THAT(other.err, HasSubstr("a library for another machine cannot run here; leave out --check"));
}

TEST(Build, WhatKilnCannotScheduleIsAForeignCall) {
  const std::string inputs = absl::StrCat(KILN_SOURCE_DIR, "/tests/inputs/");
  for (const char* file :
       {"unsupported/jax_sort.mlir", "unsupported/jax_fori_loop.mlir", "unsupported/torch_cumsum.mlir"}) {
    const TemporaryFolder folder;
    const Ran built = RunKiln({"build", inputs + file, "-o", folder / "out", "--name", "net", "--db",
                               folder / "none.db", "--json"});
    ASSERT_EQ(built.exit_code, 0) << built.err;
    EXPECT_EQ(built.json()["tasks"].back()["schedule"], "foreign") << file;
    EXPECT_THAT(ReadText(folder / "out/net.trace"), HasSubstr(": foreign scf."));
    EXPECT_EQ(RunKiln({"run", folder / "out/net.so"}).exit_code, 0) << file;
  }
}

TEST(Build, AComputedSizeOfAnArgumentIsRefusedWithACure) {
  const Ran built =
      RunKiln({"build", absl::StrCat(KILN_SOURCE_DIR, "/tests/inputs/ops/onnx_Relu_dynamic.mlir")});
  EXPECT_EQ(built.exit_code, 1);
  EXPECT_THAT(built.err, HasSubstr("argument 0: the dynamic shape of tensor<?x16xf32>"));
  EXPECT_THAT(built.err, HasSubstr("hint: export with fixed shapes: every size a number"));
}

TEST(Build, SaysWhatItCannotDo) {
  const TemporaryFolder folder;
  const std::string net = folder.Write("net.mlir", kNet);
  const Ran target = RunKiln({"build", net, "--target", "vax"});
  EXPECT_EQ(target.exit_code, 2);
  EXPECT_THAT(target.err, HasSubstr("vax"));
  const Ran place = RunKiln({"build", net, "-o", "/proc/none", "--db", folder / "none.db"});
  EXPECT_EQ(place.exit_code, 1);
  EXPECT_THAT(place.err, HasSubstr("cannot write /proc/none"));
  const Ran file = RunKiln({"build", folder / "missing.mlir"});
  EXPECT_EQ(file.exit_code, 1);
  EXPECT_THAT(file.err, HasSubstr("there is no such file"));
}

TEST(Build, ShowPrintsTheCallsAndTheMemory) {
  const TemporaryFolder folder;
  const std::string trace = folder / "out/net.trace";
  const Ran built =
      RunKiln({"build", folder.Write("net.mlir", kNet), "-o", folder / "out", "--db", folder / "none.db"});
  ASSERT_EQ(built.exit_code, 0) << built.err;

  const Ran calls = RunKiln({"show", "--stage", "calls", trace});
  EXPECT_THAT(calls.out, HasSubstr("\n1        net_matmul     default   1        104 "));
  EXPECT_THAT(calls.out, HasSubstr("\nprepare  net_transpose"));
  const nlohmann::json first = RunKiln({"show", "--stage", "calls", trace, "--json"}).json()["calls"][0];
  EXPECT_EQ(first["prepares"], true);
  EXPECT_EQ(first["bytes"], 4 * 12 + 4 * 12);  // w and its transposition

  const nlohmann::json memory = RunKiln({"show", "--stage", "memory", trace, "--json"}).json();
  EXPECT_EQ(memory["arena_bytes"], 64);
  EXPECT_EQ(memory["alive_bytes"], 32);  // h
  EXPECT_EQ(memory["memory"][0]["calls"], nlohmann::json({1, 2}));
  EXPECT_THAT(RunKiln({"show", "--stage", "memory", trace}).out, HasSubstr("(32 alive at once), weights "));

  const Ran no_number = RunKiln({"show", trace});
  EXPECT_EQ(no_number.exit_code, 2);
  EXPECT_THAT(no_number.err, HasSubstr("no number of a record; of a model's trace there are --stage calls"));
  const Ran other = RunKiln({"show", "--stage", "calls", folder / "net.mlir"});
  EXPECT_EQ(other.exit_code, 2);
  EXPECT_THAT(other.err, HasSubstr("net.mlir:1: not the trace of a model"));
  const std::string damaged = folder.Write("a.trace", "kiln.model v1 a\n\ncall 0: a(x) bytes -1\n");
  EXPECT_THAT(RunKiln({"show", "--stage", "calls", damaged}).err,
              HasSubstr("a.trace:3: malformed: \"call 0"));
}

TEST(Build, RunTellsTheTimeOfEachCall) {
  const TemporaryFolder folder;
  const Ran built =
      RunKiln({"build", folder.Write("net.mlir", kNet), "-o", folder / "out", "--db", folder / "none.db"});
  ASSERT_EQ(built.exit_code, 0) << built.err;
  const Ran ran = RunKiln({"run", folder / "out/net.so", "--profile", "--json"});
  ASSERT_EQ(ran.exit_code, 0) << ran.err;
  const nlohmann::json calls = ran.json()["calls"];
  ASSERT_EQ(calls.size(), 2);  // without the prepare phase
  for (const nlohmann::json& call : calls) {
    EXPECT_THAT(call["task"].get<std::string>(), HasSubstr("net_matmul"));
    EXPECT_EQ(call["schedule"], "default");
    EXPECT_GT(call["seconds"]["median"].get<double>(), 0);
  }
  EXPECT_THAT(RunKiln({"run", folder / "out/net.so", "--profile"}).out, HasSubstr("\ncalls together "));
  // The shared library has the functions for profiling, and the static library does not.
  EXPECT_THAT(ReadText(folder / "out/net.so"), HasSubstr("net_profile_by_table"));
  EXPECT_THAT(ReadText(folder / "out/net.a"), Not(HasSubstr("profile")));
}

TEST(Build, BenchTimesTheWholeInTurnsWithDefaultSchedules) {
  const TemporaryFolder folder;
  const std::string net = folder.Write("net.mlir", kNet), db = folder / "kiln.db";
  const std::vector<std::string> bench = {"bench", net, "--whole", "--db", db, "--rounds", "4", "--json"};
  const nlohmann::json before = RunKiln(bench).json()["whole"];
  EXPECT_EQ(before["records"], 0);
  EXPECT_FALSE(before.contains("untuned"));

  ASSERT_EQ(RunKiln({"tune", net, "--trials", "4", "--quiet", "--db", db}).exit_code, 0);
  const Ran ran = RunKiln(bench);
  const nlohmann::json whole = ran.json()["whole"];
  EXPECT_EQ(whole["symbol"], "net") << ran.err;
  EXPECT_EQ(whole["tasks"], 3);
  EXPECT_EQ(whole["records"], 2);  // the prepare phase is not tuned
  EXPECT_EQ(whole["rounds"], 4);
  for (const nlohmann::json& interval :
       {whole["seconds"], whole["untuned"]["seconds"], whole["untuned"]["ratio"]}) {
    EXPECT_GT(interval["low"].get<double>(), 0);
    EXPECT_LE(interval["low"].get<double>(), interval["high"].get<double>());
  }
  EXPECT_THAT(RunKiln({"bench", net, "--whole", "--db", db, "--rounds", "4"}).out,
              HasSubstr("2 of 3 tasks with a record"));
  EXPECT_EQ(RunKiln({"bench", net, "--whole", "--cold"}).exit_code, 2);
}

TEST(Build, TuneEndsWithTheWholeWhateverTheBudget) {
  const TemporaryFolder folder;
  const std::string net = folder.Write("net.mlir", kNet);
  for (const std::vector<std::string>& budget :
       {std::vector<std::string>{"--trials", "0"}, {"--time", "0.01"}}) {
    std::vector<std::string> arguments = {"tune", net,           "--quiet", "--db", folder / "kiln.db",
                                          "-o",   folder / "out"};
    arguments.insert(arguments.end(), budget.begin(), budget.end());
    const Ran tuned = RunKiln(arguments);
    EXPECT_EQ(tuned.exit_code, 0) << tuned.err;
    EXPECT_THAT(tuned.out, HasSubstr("a further minute: its gain is not known yet"));
    if (budget[0] == "--trials")
      EXPECT_THAT(tuned.out, HasSubstr("on default schedules: net_matmul, net_matmul_2\n"));
    EXPECT_TRUE(std::filesystem::exists(folder / "out/net.so"));
  }
}

TEST(Build, TakesTheRecordsThatWonTheRaceOfWholes) {
  const TemporaryFolder folder;
  const std::string net = folder.Write("net.mlir", kNet), db = folder / "kiln.db";
  const Ran tuned =
      RunKiln({"tune", net, "--trials", "24", "--quiet", "--db", db, "-o", folder / "out", "--json"});
  ASSERT_EQ(tuned.exit_code, 0) << tuned.err;
  EXPECT_GE(tuned.json()["raced_wholes"]["wholes"].get<double>(), 2);
  EXPECT_GT(tuned.json()["raced_wholes"]["ratio"]["median"].get<double>(), 0);
  const Ran built = RunKiln({"build", net, "--db", db, "-o", folder / "again", "--json"});
  for (int t = 0; t < 2; ++t)
    EXPECT_EQ(built.json()["tasks"][t]["record"], tuned.json()["whole"]["tasks"][t]["record"]) << t;
}

TEST(Build, PrefersRecordsTimedAsWithinAModel) {
  const TemporaryFolder folder;
  const std::string net = folder.Write("net.mlir", kNet), db = folder / "kiln.db";
  ASSERT_EQ(RunKiln({"tune", net, "--trials", "4", "--quiet", "--db", db, "--in-model"}).exit_code, 0);
  for (const nlohmann::json& best : RunKiln({"best", "--db", db, "--json"}).json())
    EXPECT_THAT(best["flags"].get<std::string>(), HasSubstr(" in-model "));
  const Ran built = RunKiln({"build", net, "--db", db, "-o", folder / "out", "--json"});
  EXPECT_EQ(built.json()["tasks"][0]["schedule"], "record") << built.err;
  const std::string id = std::to_string(built.json()["tasks"][0]["record"].get<int>());
  const Ran replayed = RunKiln({"replay", id, "--db", db, "--json"});
  EXPECT_THAT(replayed.json()["flags"].get<std::string>(), HasSubstr(" in-model ")) << replayed.err;
  EXPECT_EQ(RunKiln({"tune", net, "--in-model", "--cold"}).exit_code, 2);
}

TEST(Build, TuneEndsWithTheWhole) {
  const TemporaryFolder folder;
  const Ran tuned = RunKiln({"tune", folder.Write("net.mlir", kNet), "--trials", "4", "--quiet",
                             "--no-in-place", "--db", folder / "kiln.db", "-o", folder / "out", "--json"});
  ASSERT_EQ(tuned.exit_code, 0) << tuned.err;
  EXPECT_EQ(tuned.json()["whole"]["tasks"][0]["schedule"], "record");
  EXPECT_EQ(tuned.json()["whole_run"]["calls"].size(), 2);
  EXPECT_TRUE(std::filesystem::exists(folder / "out/net.so"));
}

// Reads a file of events, one JSON document per line, and returns the events of this kind in their order.
std::vector<nlohmann::json> EventsOf(const std::string& path, const std::string& kind) {
  std::vector<nlohmann::json> events;
  for (const absl::string_view line : absl::StrSplit(ReadText(path), '\n')) {
    auto event = nlohmann::json::parse(line, nullptr, false);
    if (!event.is_discarded() && event["event"] == kind) events.push_back(std::move(event));
  }
  return events;
}

// Returns the number of trials that the last event "round" in a file of events reports; 0 if there is none.
int64_t Told(const std::string& events) {
  const std::vector<nlohmann::json> rounds = EventsOf(events, "round");
  return rounds.empty() ? 0 : rounds.back()["now"]["trials"].get<int64_t>();
}

int64_t RecordsIn(const std::string& db) {
  int64_t count = 0;
  sqlite3* store = nullptr;
  sqlite3_stmt* query = nullptr;
  EXPECT_EQ(sqlite3_open(db.c_str(), &store), SQLITE_OK);
  EXPECT_EQ(sqlite3_prepare_v2(store, "SELECT count(*) FROM record", -1, &query, nullptr), SQLITE_OK);
  if (sqlite3_step(query) == SQLITE_ROW) count = sqlite3_column_int64(query, 0);
  sqlite3_finalize(query);
  sqlite3_close(store);
  return count;
}

// Starts kiln, waits until `reached` returns true or the process has ended, sends the signal, and waits for the end.
Ran Interrupted(const std::vector<std::string>& line, int signal, const std::function<bool()>& reached) {
  KilnProcess process(line);
  while (!reached() && kill(process.pid(), 0) == 0) std::this_thread::sleep_for(std::chrono::milliseconds(5));
  kill(process.pid(), signal);
  return process.Wait();
}

TEST(Build, AKilledTuningOfAModelLosesNothingAndGoesOn) {
  const TemporaryFolder folder;
  const std::string net = folder.Write("net.mlir", kNet), db = folder / "kiln.db", events = folder / "events";
  const std::vector<std::string> tune = {"tune", net,        "--trials", "40", "--quiet",      "--db",
                                         db,     "--events", events,     "-o", folder / "out", "--json"};
  EXPECT_EQ(Interrupted(tune, SIGKILL, [&] { return Told(events) > 0; }).exit_code, -1);
  const int64_t told = Told(events);
  EXPECT_GT(told, 0);
  EXPECT_GE(RecordsIn(db), told);

  const Ran again = RunKiln(tune);
  ASSERT_EQ(again.exit_code, 0) << again.err;
  EXPECT_EQ(again.json()["whole"]["tasks"][0]["schedule"], "record");
  EXPECT_TRUE(std::filesystem::exists(folder / "out/net.so"));
}

// Interrupts `kiln tune` of a model by SIGKILL and SIGINT, first while libraries of the whole model race, then while
// the written library runs. Expects that no record is lost, and that the same command, repeated, ends with the library.
TEST(Build, AnInterruptWhileWholesRunLosesNothingAndTheCommandEndsWithTheLibrary) {
  const TemporaryFolder folder;
  const std::string net = folder.Write("net.mlir", kNet), db = folder / "kiln.db", events = folder / "events";
  const std::vector<std::string> tune = {"tune", net,        "--trials", "16", "--quiet",      "--db",
                                         db,     "--events", events,     "-o", folder / "out", "--json"};
  const auto races = [&] { return EventsOf(events, "task").size() == 2; };
  const auto runs = [&] { return std::filesystem::exists(folder / "out/net.so"); };
  int64_t records = 0;
  for (const int signal : {SIGKILL, SIGINT}) {
    for (const bool in_race : {true, false}) {
      SCOPED_TRACE(
          absl::StrCat(signal == SIGINT ? "SIGINT" : "SIGKILL", in_race ? " in the race" : " in the run"));
      std::filesystem::remove(events);
      std::filesystem::remove_all(folder / "out");
      const Ran ran = Interrupted(tune, signal, in_race ? std::function<bool()>(races) : runs);
      EXPECT_EQ(ran.exit_code, signal == SIGINT ? 3 : -1) << ran.err;
      if (signal == SIGINT)
        EXPECT_THAT(ran.json()["resume"], absl::StrCat("kiln ", absl::StrJoin(tune, " ")));
      if (records == 0) records = RecordsIn(db);
      EXPECT_EQ(RecordsIn(db), records);
    }
  }
  const Ran again = RunKiln(tune);
  ASSERT_EQ(again.exit_code, 0) << again.err;
  EXPECT_EQ(again.json()["whole"]["tasks"][0]["schedule"], "record");
  EXPECT_EQ(again.json()["whole_run"]["calls"].size(), 2);
  EXPECT_EQ(RecordsIn(db), records);
}

}  // namespace
}  // namespace kiln
