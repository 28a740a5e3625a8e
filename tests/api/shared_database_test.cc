// Tests the lock that keeps two commands from using one database at once, and databases that this user may only read.
#include <gmock/gmock.h>
#include <unistd.h>

#include <filesystem>

#include "api/internal/store/open_store.h"
#include "api/internal/store/run_lock.h"
#include "search/database/sqlite.h"
#include "search/database/sqlite_store.h"
#include "tests/support/run_kiln.h"

namespace kiln::api {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

TEST(RunLock, TellsTheSecondWhoRunsTheCommand) {
  const TemporaryFolder folder;
  const std::string database = folder / "kiln.db";
  auto first = RunLock::Take(database, "kiln tune a.mlir");
  ASSERT_TRUE(first.ok()) << first.status();
  const auto second = RunLock::Take(database, "kiln tune a.mlir");
  EXPECT_EQ(second.status().code(), absl::StatusCode::kUnavailable);
  EXPECT_THAT(
      std::string(second.status().message()),
      AllOf(HasSubstr("runs already: process " + std::to_string(getpid()) + " on "), HasSubstr("since")));
  EXPECT_TRUE(RunLock::Take(database, "kiln tune b.mlir").ok());
  first->reset();
  EXPECT_TRUE(RunLock::Take(database, "kiln tune a.mlir").ok());
}

TEST(RunLock, LeavesNoFileBehind) {
  const TemporaryFolder folder;
  {
    ASSERT_TRUE(RunLock::Take(folder / "kiln.db", "kiln tune a.mlir").ok());
  }
  EXPECT_TRUE(std::filesystem::is_empty(folder.path()));
}

// Reads a database as a user who may not write it, and expects the rows that are only in its write-ahead log so far.
TEST(ReadOnlyDatabase, IsReadWithWhatIsInItsLog) {
  if (geteuid() != 0) GTEST_SKIP() << "only root can become another user";
  const TemporaryFolder folder;
  const std::string path = folder / "kiln.db";
  const auto writer = OpenStore(path).value();  // stays open, so that its records stay in the log
  ASSERT_TRUE(writer->PutWorkload(std::string(32, 'a'), "matmul", "program").ok());
  namespace fs = std::filesystem;
  for (const char* end : {"", "-wal", "-shm"}) fs::permissions(path + end, fs::perms(0644));
  fs::permissions(folder.path(), fs::perms(0755));
  ASSERT_EQ(seteuid(65534), 0);
  EXPECT_FALSE(MayChange(path));
  const auto store = OpenExistingStore(path);
  const bool found = store.ok() && (*store)->ReadAll()->workloads.size() == 1;
  ASSERT_EQ(seteuid(0), 0);
  EXPECT_TRUE(found) << store.status();
}

// Reads a database with the schema of an earlier version of Kiln as a user who may not write it. Expects its rows, and
// that the file keeps its schema.
TEST(ReadOnlyDatabase, IsReadWhateverItsVersion) {
  if (geteuid() != 0) GTEST_SKIP() << "only root can become another user";
  const TemporaryFolder folder;
  const std::string path = folder / "kiln.db";
  {
    const auto writer = OpenStore(path).value();
    ASSERT_TRUE(writer->PutWorkload(std::string(32, 'a'), "matmul", "program").ok());
  }
  ASSERT_TRUE(
      (*sqlite::Connection::Open(path, absl::Seconds(1)))
          ->Execute("ALTER TABLE record DROP COLUMN assumptions; ALTER TABLE record DROP COLUMN place;"
                    "ALTER TABLE record DROP COLUMN facts; ALTER TABLE run DROP COLUMN owner;"
                    "ALTER TABLE run DROP COLUMN lease_until; PRAGMA user_version = 4")
          .ok());
  namespace fs = std::filesystem;
  fs::permissions(path, fs::perms(0644));
  fs::permissions(folder.path(), fs::perms(0755));
  ASSERT_EQ(seteuid(65534), 0);
  const auto store = OpenExistingStore(path);
  const bool found = store.ok() && (*store)->ReadAll()->workloads.size() == 1;
  ASSERT_EQ(seteuid(0), 0);
  EXPECT_TRUE(found) << store.status();
  EXPECT_EQ((*sqlite::Connection::Open(path, absl::Seconds(1)))->Number("PRAGMA user_version").value(), 4);
}

}  // namespace
}  // namespace kiln::api
