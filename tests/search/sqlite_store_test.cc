// Tests the properties that a database file has beyond those of every store (store_test.cc): it persists, serves
// several processes, and survives killed processes and damage.
#include "search/database/sqlite_store.h"

#include <sched.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include <fstream>
#include <functional>
#include <random>

#include "absl/strings/match.h"
#include "gmock/gmock.h"
#include "search/database/sqlite.h"
#include "tests/search/store_support.h"

namespace kiln {
namespace {

using absl::StatusCode;
using testing::AllOf;
using testing::HasSubstr;

void WriteFile(const std::string& path, const std::string& bytes) {
  std::ofstream(path, std::ios::binary) << bytes;
}

std::string ReadFile(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

// Runs `body` in a child process. Returns its exit status; 128 if a signal ended it.
int InChild(const std::function<int()>& body) {
  const pid_t child = fork();
  if (child == 0) _exit(body());
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128;
}

std::vector<RecordRow> Batch(int first_trial, int size) {
  std::vector<RecordRow> batch;
  for (int i = 0; i < size; ++i) batch.push_back(ExampleRecord(1, 1, first_trial + i, {1.0 + i}));
  return batch;
}

TEST(SqliteStore, KeepsEverythingFromOneOpeningToTheNext) {
  const TemporaryDirectory directory;
  const std::string path = directory / "kiln.db";
  StoreContents written;
  {
    const auto store = OpenStore(path).value();
    FillExample(*store);
    ASSERT_TRUE(store->AppendRecords(1, Batch(0, 3), "after 3").ok());
    ASSERT_TRUE(store->SaveModel({.key = "global", .target = 1, .bytes = "model"}).ok());
    written = store->ReadAll().value();
  }
  const auto store = OpenStore(path).value();
  EXPECT_EQ(store->ReadAll().value(), written);
  EXPECT_EQ(store->FindUnfinishedRun("kiln tune a.mlir").value()->state, "after 3");
  EXPECT_EQ(store->LoadModel("global", 1).value()->bytes, "model");
}

TEST(SqliteStore, ServesSeveralObjectsAtOnce) {
  const TemporaryDirectory directory;
  const auto one = OpenStore(directory / "kiln.db").value();
  const auto two = OpenStore(directory / "kiln.db").value();
  FillExample(*one);
  ASSERT_TRUE(two->AppendRecords(1, Batch(0, 2), "").ok());
  EXPECT_EQ(one->Records(1, 1)->size(), 2u);
  EXPECT_EQ(one->AppendRecords(1, Batch(1, 2), "").status().code(), StatusCode::kAlreadyExists);
}

TEST(SqliteStore, IsMadeAndFilledByManyProcessesAtOnce) {
  const TemporaryDirectory directory;
  const std::string path = directory / "kiln.db";
  constexpr int kProcesses = 8, kBatches = 5;
  std::vector<pid_t> children;
  for (int i = 0; i < kProcesses; ++i) {
    const pid_t child = fork();
    if (child == 0) {
      const auto store = OpenStore(path, {.patience = absl::Seconds(60)});
      if (!store.ok()) _exit(1);
      if ((*store)->PutWorkload(ExampleHash('a'), "matmul", "program").value_or(0) != 1) _exit(2);
      if ((*store)->PutTarget("cpu", "fingerprint").value_or(0) != 1) _exit(3);
      const RowId run = (*store)->BeginRun({.command = "tune"}).value_or(0);
      for (int batch = 0; batch < kBatches; ++batch) {
        if (!(*store)->AppendRecords(run, Batch(4 * batch, 4), "").ok()) _exit(4);
      }
      _exit(0);
    }
    children.push_back(child);
  }
  for (const pid_t child : children) {
    int status = -1;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    EXPECT_EQ(status, 0);
  }
  const StoreContents contents = OpenStore(path).value()->ReadAll().value();
  EXPECT_EQ(contents.runs.size(), 8u);
  EXPECT_EQ(contents.records.size(), 160u);
}

// A child opens the store, resumes or begins the run, and appends batches of eight records, each of which it reports
// through a pipe. It is killed at a random instant, fifty times on the same file. The file must then hold all reported
// batches and at most one more.
TEST(SqliteStore, LosesNoAcknowledgedRecordWhenItIsKilled) {
  const TemporaryDirectory directory;
  const std::string path = directory / "kiln.db";
  constexpr int kBatch = 8;
  const auto append_for_ever = [&](int acknowledge) {
    const auto store = OpenStore(path).value();
    const RowId workload = store->PutWorkload(ExampleHash('a'), "matmul", "program").value();
    const RowId target = store->PutTarget("cpu", "fingerprint").value();
    const auto unfinished = store->FindUnfinishedRun("tune").value();
    const RowId run =
        unfinished ? unfinished->id : store->BeginRun({.command = "tune", .state = "0"}).value();
    for (int done = unfinished ? std::stoi(unfinished->state) : 0;; ++done) {
      std::vector<RecordRow> batch = Batch(done * kBatch, kBatch);
      for (RecordRow& record : batch) record.workload = workload, record.target = target;
      store->AppendRecords(run, batch, std::to_string(done + 1)).value();
      if (write(acknowledge, &done, sizeof done) != sizeof done) _exit(1);
    }
  };
  std::mt19937 random(7);
  int acknowledged = 0, extended = 0;
  for (int kill_number = 0; kill_number < 50; ++kill_number) {
    int ends[2];
    ASSERT_EQ(pipe(ends), 0);
    const pid_t child = fork();
    if (child == 0) append_for_ever(ends[1]);
    close(ends[1]);
    // Half of the children are killed soon after they began, the others soon after a few batches, however slow they
    // are.
    const int before = acknowledged;
    const int batches = kill_number % 2 == 0 ? 0 : std::uniform_int_distribution<int>(1, 3)(random);
    for (int done, i = 0; i < batches && read(ends[0], &done, sizeof done) == sizeof done; ++i)
      acknowledged = done + 1;
    usleep(std::uniform_int_distribution<int>(0, 30000)(random));
    ASSERT_EQ(kill(child, SIGKILL), 0);
    int status = 0;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    ASSERT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
    for (int done; read(ends[0], &done, sizeof done) == sizeof done;) acknowledged = done + 1;
    close(ends[0]);
    extended += acknowledged > before;

    const auto store = OpenStore(path);
    ASSERT_TRUE(store.ok()) << store.status();
    const StoreContents contents = (*store)->ReadAll().value();
    ASSERT_EQ(contents.records.size() % kBatch, 0u);
    const int stored = static_cast<int>(contents.records.size()) / kBatch;
    ASSERT_TRUE(stored == acknowledged || stored == acknowledged + 1) << stored << " of " << acknowledged;
    acknowledged = stored;
    if (contents.runs.empty()) continue;
    ASSERT_EQ(contents.runs[0].state, std::to_string(stored));
    for (size_t i = 0; i < contents.records.size(); ++i)
      ASSERT_EQ(contents.records[i].trial, static_cast<int>(i));
  }
  EXPECT_GT(extended, 10);
  const auto db = sqlite::Connection::Open(path, absl::Seconds(1)).value();
  EXPECT_EQ(db->Number("SELECT count(*) FROM pragma_integrity_check WHERE integrity_check = 'ok'").value(),
            1);
}

TEST(SqliteStore, WaitsForALockAndThenSaysThatItIsLocked) {
  const TemporaryDirectory directory;
  const std::string path = directory / "kiln.db";
  const auto store = OpenStore(path, {.patience = absl::Milliseconds(50)}).value();
  FillExample(*store);
  const auto other = sqlite::Connection::Open(path, absl::Seconds(1)).value();
  ASSERT_TRUE(other->Execute("BEGIN IMMEDIATE").ok());
  const absl::Status status = store->AppendRecords(1, Batch(0, 1), "").status();
  EXPECT_EQ(status.code(), StatusCode::kUnavailable);
  EXPECT_EQ(status.message(),
            path +
                " was locked by another process for more than 50ms; wait for it or end it, and run "
                "the same command again");
  EXPECT_TRUE(store->Records(1, 1).ok());
  ASSERT_TRUE(other->Execute("ROLLBACK").ok());
  EXPECT_TRUE(store->AppendRecords(1, Batch(0, 1), "").ok());
}

TEST(SqliteStore, RefusesAFileThatIsNoDatabaseAndLeavesItAsItIs) {
  const TemporaryDirectory directory;
  const std::string path = directory / "model.mlir";
  const std::string text = "func.func @main() { return }" + std::string(5000, '\n');
  WriteFile(path, text);
  const absl::Status status = OpenStore(path).status();
  EXPECT_EQ(status.code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(status.message(),
            path +
                " is not a database (file is not a database); it was left as it is: choose another "
                "file, or move it away");
  EXPECT_EQ(ReadFile(path), text);
}

TEST(SqliteStore, SaysThatTheDirectoryIsMissing) {
  const TemporaryDirectory directory;
  const absl::Status status = OpenStore(directory / "missing/kiln.db").status();
  EXPECT_EQ(status.code(), StatusCode::kNotFound);
  EXPECT_THAT(status.message(),
              AllOf(HasSubstr("missing/kiln.db: the directory"), HasSubstr("does not exist")));
  EXPECT_EQ(OpenStore(directory / "").status().code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(OpenStore("").status().code(), StatusCode::kInvalidArgument);
}

// Overwrites one page of a database file after the other, and truncates the file. Reading it must then give kDataLoss;
// if the damaged page is not read, it may succeed.
TEST(SqliteStore, ReportsADamagedFile) {
  const TemporaryDirectory directory;
  const std::string path = directory / "kiln.db";
  {
    const auto store = OpenStore(path).value();
    FillExample(*store);
    ASSERT_TRUE(store->AppendRecords(1, Batch(0, 200), "").ok());
  }
  const std::string whole = ReadFile(path);
  ASSERT_GT(whole.size(), 40000u);
  int reported = 0;
  for (size_t page = 4096; page < whole.size(); page += 4096) {
    std::string damaged = whole;
    damaged.replace(page, 4096, std::string(4096, '\x5a'));
    WriteFile(directory / "damaged.db", damaged);
    const auto store = OpenStore(directory / "damaged.db");
    const absl::Status status = store.ok() ? (*store)->ReadAll().status() : store.status();
    if (status.ok()) continue;
    EXPECT_EQ(status.code(), StatusCode::kDataLoss);
    EXPECT_THAT(status.message(), AllOf(HasSubstr("damaged.db is damaged"), HasSubstr(".recover")));
    ++reported;
  }
  EXPECT_GT(reported, 5);
  WriteFile(directory / "short.db", whole.substr(0, whole.size() / 2));
  const auto store = OpenStore(directory / "short.db");
  EXPECT_EQ(store.ok() ? (*store)->ReadAll().status().code() : store.status().code(), StatusCode::kDataLoss);
}

TEST(SqliteStore, SaysThatItMayNotWrite) {
  const TemporaryDirectory directory;
  const std::string path = directory / "kiln.db", locked = directory / "locked";
  FillExample(*OpenStore(path).value());
  ASSERT_EQ(mkdir(locked.c_str(), 0755), 0);
  ASSERT_EQ(chmod(path.c_str(), 0444) + chmod((directory / "").c_str(), 0555) + chmod(locked.c_str(), 0555),
            0);
  const auto denied = [](const std::string& file) {
    const absl::Status status = OpenStore(file).status();
    return status.code() == StatusCode::kPermissionDenied &&
           absl::StrContains(status.message(), "cannot write " + file) &&
           absl::StrContains(status.message(), "change their permissions");
  };
  // A child process opens files that it may not write. It becomes another user, because root may write anything.
  EXPECT_EQ(InChild([&] {
              if (geteuid() == 0 && setuid(65534) != 0) return 1;
              return !denied(path) ? 2 : !denied(locked + "/kiln.db") ? 3 : 0;
            }),
            0);
  ASSERT_EQ(chmod((directory / "").c_str(), 0755), 0);
}

TEST(SqliteStore, KeepsWhatItHasWhenTheDiskIsFull) {
  const TemporaryDirectory directory;
  constexpr int kCannotMount = 77;
  const int result = InChild([&] {
    if (unshare(CLONE_NEWNS) != 0 || mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0 ||
        mount("tmpfs", (directory / "").c_str(), "tmpfs", 0, "size=512k") != 0) {
      return kCannotMount;
    }
    const auto store = OpenStore(directory / "kiln.db").value();
    FillExample(*store);
    size_t stored = 0;
    absl::Status status;
    while (true) {
      status =
          store->AppendRecords(1, Batch(static_cast<int>(stored), 16), std::to_string(stored + 16)).status();
      if (!status.ok()) break;
      stored += 16;
    }
    if (status.code() != StatusCode::kResourceExhausted) return 1;
    if (!absl::StrContains(status.message(), "no space left to write")) return 2;
    const auto contents = store->ReadAll();
    return contents.ok() && contents->records.size() == stored &&
                   contents->runs[0].state == std::to_string(stored)
               ? 0
               : 3;
  });
  if (result == kCannotMount) GTEST_SKIP() << "a small file system can only be mounted by root";
  EXPECT_EQ(result, 0);
}

}  // namespace
}  // namespace kiln
