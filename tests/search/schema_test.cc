#include "search/database/schema.h"

#include <signal.h>
#include <sys/wait.h>

#include <filesystem>
#include <fstream>
#include <random>

#include "gmock/gmock.h"
#include "lang/schedule/primitive.h"
#include "search/database/sqlite_store.h"
#include "tests/search/store_support.h"

namespace kiln {
namespace {

using absl::StatusCode;
using sqlite::Connection;
using testing::HasSubstr;

// The SQL that makes a database file of schema version 1, with one record of two samples (1 and 2 seconds).
constexpr char kVersion1[] = R"sql(
PRAGMA application_id = 1263094862;
PRAGMA user_version = 1;
CREATE TABLE workload (
  id INTEGER PRIMARY KEY,
  hash TEXT NOT NULL,
  name TEXT NOT NULL,
  program TEXT NOT NULL
) STRICT;
CREATE INDEX workload_by_hash ON workload (hash);
CREATE TABLE target (
  id INTEGER PRIMARY KEY,
  text TEXT NOT NULL,
  fingerprint TEXT NOT NULL,
  UNIQUE (text, fingerprint)
) STRICT;
CREATE TABLE run (
  id INTEGER PRIMARY KEY,
  uid TEXT NOT NULL UNIQUE,
  command TEXT NOT NULL,
  options TEXT NOT NULL,
  seed INTEGER NOT NULL,
  kiln_version TEXT NOT NULL,
  llvm_version TEXT NOT NULL,
  xgboost_version TEXT NOT NULL,
  started INTEGER NOT NULL,
  state BLOB NOT NULL,
  finished INTEGER NOT NULL
) STRICT;
CREATE INDEX run_by_command ON run (command, finished);
CREATE TABLE record (
  id INTEGER PRIMARY KEY,
  workload INTEGER NOT NULL REFERENCES workload (id),
  target INTEGER NOT NULL REFERENCES target (id),
  run INTEGER NOT NULL REFERENCES run (id),
  task INTEGER NOT NULL,
  round INTEGER NOT NULL,
  trial INTEGER NOT NULL,
  created INTEGER NOT NULL,
  status TEXT NOT NULL,
  samples BLOB NOT NULL CHECK (length(samples) % 8 = 0),
  program_hash TEXT NOT NULL,
  sketch TEXT NOT NULL,
  trace TEXT NOT NULL,
  error TEXT NOT NULL,
  UNIQUE (run, task, trial)
) STRICT;
CREATE INDEX record_by_workload ON record (workload, target);
INSERT INTO workload VALUES (1, 'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa', 'matmul', 'program a');
INSERT INTO target VALUES (1, 'cpu', 'fingerprint');
INSERT INTO run VALUES (1, 'eeeeeeeeeeeeeeeeeeeeeeeeeeeeeeee', 'kiln tune', '{}', 7, '0.0.1', '22.1', '1.7.4', 5, x'', 0);
INSERT INTO record VALUES (1, 1, 1, 1, 0, 0, 0, 9, 'ok', x'000000000000F03F0000000000000040',
                           'dddddddddddddddddddddddddddddddd', 'sketch', 'trace', '');
)sql";

// The SQL that makes a database file of schema version 2: that of version 1, which has one record, and the changes
// since.
const std::string kVersion2 = std::string(kVersion1) + R"sql(
PRAGMA user_version = 2;
ALTER TABLE record ADD COLUMN lower_bound INTEGER NOT NULL DEFAULT 0;
ALTER TABLE record ADD COLUMN flags TEXT NOT NULL DEFAULT '';
ALTER TABLE record ADD COLUMN verified INTEGER NOT NULL DEFAULT 0;
CREATE TABLE model (
  id INTEGER PRIMARY KEY,
  key TEXT NOT NULL,
  target INTEGER NOT NULL REFERENCES target (id),
  bytes BLOB NOT NULL,
  note TEXT NOT NULL,
  UNIQUE (key, target)
) STRICT;
INSERT INTO model VALUES (1, 'global', 1, x'62', 'note');
)sql";

// The SQL that makes a database file of schema version 3: that of version 2, which has one record, and the new table.
const std::string kVersion3 = kVersion2 + R"sql(
PRAGMA user_version = 3;
CREATE TABLE round (
  id INTEGER PRIMARY KEY,
  run INTEGER NOT NULL REFERENCES run (id),
  task INTEGER NOT NULL,
  round INTEGER NOT NULL,
  trials INTEGER NOT NULL,
  statistics TEXT NOT NULL,
  UNIQUE (run, task, round)
) STRICT;
)sql";

// The SQL that makes a database file of schema version 4: that of version 3, which has one record, the new column, a
// record whose schedule assumes finite data, and one whose schedule skips zeros.
const std::string kVersion4 = kVersion3 + R"sql(
PRAGMA user_version = 4;
ALTER TABLE record ADD COLUMN taken BLOB NOT NULL DEFAULT x'' CHECK (length(taken) % 16 = 0);
INSERT INTO record (workload, target, run, task, round, trial, created, status, samples, program_hash, sketch, trace,
                    error, flags)
  VALUES (1, 1, 1, 0, 0, 1, 9, 'ok', x'000000000000F03F', 'dddddddddddddddddddddddddddddddd', 'sketch',
          'annotate-block b0 "finite" value=1', '', 'threads=2 contraction race'),
         (1, 1, 1, 0, 0, 2, 9, 'ok', x'000000000000F03F', 'dddddddddddddddddddddddddddddddd', 'sketch',
          'skip-zeros b0', '', '');
)sql";

void MakeFile(const std::string& path, const std::string& sql) {
  const auto db = Connection::Open(path, absl::Seconds(1));
  ASSERT_TRUE((*db)->Execute("BEGIN;" + sql + "; COMMIT").ok());
}

std::string Bytes(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

std::string Schema(const std::string& path) {
  const auto db = Connection::Open(path, absl::Seconds(1));
  sqlite::Query query(**db, "SELECT name || ': ' || coalesce(sql, '') FROM sqlite_master ORDER BY name");
  std::string text;
  while (query.Next()) text += query.Text(0) + "\n";
  return text;
}

int64_t Version(const std::string& path) {
  return (*Connection::Open(path, absl::Seconds(1)))->Number("PRAGMA user_version").value();
}

TEST(Schema, MigratesAnOlderFileAndKeepsACopyOfIt) {
  const TemporaryDirectory directory;
  const std::string path = directory / "kiln.db";
  MakeFile(path, kVersion1);
  const std::string before = Bytes(path);
  {
    const auto store = OpenStore(path).value();
    const RecordEntry entry = store->Get(1).value();
    EXPECT_EQ(entry.record.samples, (std::vector<double>{1, 2}));
    EXPECT_FALSE(entry.record.lower_bound);
    EXPECT_FALSE(entry.record.verified);
    EXPECT_EQ(entry.run.seed, 7u);
    EXPECT_TRUE(store->AppendRecords(1, {ExampleRecord(1, 1, 1, {1})}, "state").ok());
    EXPECT_TRUE(store->SaveModel({.key = "global", .target = 1, .bytes = "b"}).ok());
  }
  EXPECT_EQ(Version(path), kSchemaVersion);
  EXPECT_EQ(Version(path + ".v1.bak"), 1);
  MakeFile(directory / "again.db", kVersion1);
  EXPECT_EQ(Schema(path + ".v1.bak"), Schema(directory / "again.db"));
  EXPECT_FALSE(std::filesystem::exists(path + ".v1.bak.tmp"));

  // The backup of version 1 is a whole database: when it is opened, it migrates, too, and has its record.
  const auto restored = OpenStore(path + ".v1.bak").value();
  EXPECT_EQ(restored->ReadAll()->records.size(), 1u);
}

TEST(Schema, OfAMigratedFileIsThatOfANewOne) {
  for (const std::string& older : {std::string(kVersion1), kVersion2, kVersion3, kVersion4}) {
    const TemporaryDirectory directory;
    MakeFile(directory / "old.db", older);
    ASSERT_TRUE(OpenStore(directory / "old.db").ok());
    ASSERT_TRUE(OpenStore(directory / "new.db").ok());
    EXPECT_EQ(Schema(directory / "old.db"), Schema(directory / "new.db"));
  }
}

TEST(Schema, MigratesRunsThatHaveNoRounds) {
  const TemporaryDirectory directory;
  const std::string path = directory / "kiln.db";
  MakeFile(path, kVersion2);
  const auto store = OpenStore(path).value();
  EXPECT_EQ(Version(path), kSchemaVersion);
  EXPECT_EQ(Version(path + ".v2.bak"), 2);
  EXPECT_EQ(store->LoadModel("global", 1).value()->bytes, "b");
  EXPECT_TRUE(store->Rounds(1).value().empty());
  const RoundRow round{.run = 1, .trials = 1, .statistics = "{}"};
  ASSERT_TRUE(store->AppendRecords(1, {ExampleRecord(1, 1, 1, {1})}, "state", {round}).ok());
  EXPECT_EQ(store->Rounds(1).value(), std::vector<RoundRow>{round});
}

TEST(Schema, MigratesRecordsWithoutWholeTimings) {
  const TemporaryDirectory directory;
  const std::string path = directory / "kiln.db";
  MakeFile(path, kVersion3);
  const auto store = OpenStore(path).value();
  EXPECT_EQ(Version(path + ".v3.bak"), 3);
  EXPECT_EQ(store->Get(1)->record.raw_samples, std::vector<double>());
  RecordRow record = ExampleRecord(1, 1, 1, {1});
  record.raw_samples = {1, 1, 3, 1.5};
  ASSERT_TRUE(store->AppendRecords(1, {record}, "state").ok());
  EXPECT_EQ(store->Get(2)->record.raw_samples, record.raw_samples);
}

TEST(Schema, MigratesRecordsThatDoNotSayWhatTheyAssume) {
  const TemporaryDirectory directory;
  const std::string path = directory / "kiln.db";
  MakeFile(path, kVersion4);
  const auto store = OpenStore(path).value();
  EXPECT_EQ(Version(path + ".v4.bak"), 4);
  EXPECT_EQ(store->Get(1)->record.assumptions, "");
  EXPECT_EQ(store->Get(2)->record.assumptions, kFiniteFactors);
  EXPECT_EQ(store->Get(3)->record.assumptions, kFiniteFactors);
  EXPECT_EQ(store->Get(2)->record.flags, (RecordFlags{.threads = 2, .contract = true, .race = true}));
  RecordRow record = ExampleRecord(1, 1, 3, {1});
  record.assumptions = "sunshine";
  record.place = "rack 3";
  record.facts = R"({"watts":41.5})";
  ASSERT_TRUE(store->AppendRecords(1, {record}, "state").ok());
  const RecordRow stored = store->Get(4)->record;
  EXPECT_EQ(stored.assumptions, "sunshine");
  EXPECT_EQ(stored.place, "rack 3");
  EXPECT_EQ(stored.facts, record.facts);
}

TEST(Schema, NeverOverwritesAnEarlierBackup) {
  const TemporaryDirectory directory;
  const std::string path = directory / "kiln.db";
  MakeFile(path, kVersion1);
  std::ofstream(path + ".v1.bak") << "precious";
  ASSERT_TRUE(OpenStore(path).ok());
  EXPECT_EQ(Bytes(path + ".v1.bak"), "precious");
  EXPECT_EQ(Version(path + ".v1.bak.1"), 1);
}

TEST(Schema, RefusesANewerFileAndLeavesItAsItIs) {
  const TemporaryDirectory directory;
  const std::string path = directory / "kiln.db";
  MakeFile(path, std::string(kVersion1) + "PRAGMA user_version = 7;");
  const std::string before = Bytes(path);
  const absl::Status status = OpenStore(path).status();
  EXPECT_EQ(status.code(), StatusCode::kFailedPrecondition);
  EXPECT_EQ(status.message(),
            path +
                " has schema version 7, made by a newer Kiln; this Kiln reads versions up to 5: "
                "use the newer Kiln, or choose another file");
  EXPECT_EQ(Bytes(path), before);
}

TEST(Schema, RefusesADatabaseOfAnotherProgramAndLeavesItAsItIs) {
  const TemporaryDirectory directory;
  const std::string path = directory / "photos.db";
  MakeFile(path, "CREATE TABLE photo (id INTEGER)");
  const std::string before = Bytes(path);
  const absl::Status status = OpenStore(path).status();
  EXPECT_EQ(status.code(), StatusCode::kInvalidArgument);
  EXPECT_THAT(status.message(), HasSubstr("is a database of another program"));
  EXPECT_EQ(Bytes(path), before);
}

TEST(Schema, MigrationThatIsKilledLosesNothing) {
  std::mt19937 random(1);
  for (int i = 0; i < 20; ++i) {
    const TemporaryDirectory directory;
    const std::string path = directory / "kiln.db";
    MakeFile(path, kVersion1);
    const pid_t child = fork();
    if (child == 0) _exit(OpenStore(path).ok() ? 0 : 1);
    usleep(std::uniform_int_distribution<int>(0, 30000)(random));
    kill(child, SIGKILL);
    ASSERT_EQ(waitpid(child, nullptr, 0), child);
    const int64_t version = Version(path);
    EXPECT_TRUE(version == 1 || version == kSchemaVersion) << version;
    const auto store = OpenStore(path);
    ASSERT_TRUE(store.ok()) << store.status();
    EXPECT_EQ((*store)->Get(1)->record.trace, "trace");
    EXPECT_EQ(Version(path + ".v1.bak"), 1);
  }
}

}  // namespace
}  // namespace kiln
