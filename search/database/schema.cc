#include "search/database/schema.h"

#include <filesystem>
#include <string>
#include <system_error>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "lang/base/check.h"

namespace kiln {
namespace {

constexpr int64_t kApplicationId = 0x4b494c4e;  // "KILN"

constexpr const char* kSteps[kSchemaVersion] = {
    // SQL for schema version 1: creates the tables of workloads, targets, runs and records.
    R"sql(
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
)sql",
    // SQL for schema version 2: adds lower bounds, flags and verdicts to records, and creates the table of cost models.
    R"sql(
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
)sql",
    // SQL for schema version 3: creates the table of rounds, the log of a run.
    R"sql(
CREATE TABLE round (
  id INTEGER PRIMARY KEY,
  run INTEGER NOT NULL REFERENCES run (id),
  task INTEGER NOT NULL,
  round INTEGER NOT NULL,
  trials INTEGER NOT NULL,
  statistics TEXT NOT NULL,
  UNIQUE (run, task, round)
) STRICT;
)sql",
    // SQL for schema version 4: adds to records a column with all samples of the timing.
    R"sql(
ALTER TABLE record ADD COLUMN taken BLOB NOT NULL DEFAULT x'' CHECK (length(taken) % 16 = 0);
)sql",
    // SQL for schema version 5: adds to records the assumptions of their schedules, the place of the measurement and
    // free facts about it. Sets the assumptions of old records from their traces. Adds to runs the process that
    // measures and the end of its lease (milliseconds since 1970, UTC).
    R"sql(
ALTER TABLE record ADD COLUMN assumptions TEXT NOT NULL DEFAULT '';
ALTER TABLE record ADD COLUMN place TEXT NOT NULL DEFAULT '';
ALTER TABLE record ADD COLUMN facts TEXT NOT NULL DEFAULT '{}';
ALTER TABLE run ADD COLUMN owner TEXT NOT NULL DEFAULT '';
ALTER TABLE run ADD COLUMN lease_until INTEGER NOT NULL DEFAULT 0;
UPDATE record SET assumptions = 'finite inputs and intermediates'
  WHERE instr(trace, 'skip-zeros b') > 0 OR instr(trace, '"finite" value=') > 0;
)sql",
};

absl::StatusOr<int> FindVersion(sqlite::Connection& db) {
  const auto application = db.Number("PRAGMA application_id");
  if (!application.ok()) return application.status();
  const auto version = db.Number("PRAGMA user_version");
  if (!version.ok()) return version.status();
  const auto tables = db.Number("SELECT count(*) FROM sqlite_master");
  if (!tables.ok()) return tables.status();

  if (*application == 0 && *version == 0 && *tables == 0) return 0;
  if (*application != kApplicationId) {
    return absl::InvalidArgumentError(absl::StrCat(
        db.path(), " is a database of another program (its application id is ", *application, ", it has ",
        *tables, " tables and indexes); it was left as it is: choose another file"));
  }
  if (*version > kSchemaVersion) {
    return absl::FailedPreconditionError(
        absl::StrCat(db.path(), " has schema version ", *version,
                     ", made by a newer Kiln; this Kiln reads versions up to ", kSchemaVersion,
                     ": use the newer Kiln, or choose another file"));
  }
  if (*version < 1) {
    return absl::DataLossError(
        absl::StrCat(db.path(), " is damaged (schema version ", *version, "); put back a copy of it"));
  }
  return static_cast<int>(*version);
}

absl::StatusOr<int> FindVersionAtOneInstant(sqlite::Connection& db) {
  sqlite::Transaction snapshot(db, sqlite::Transaction::Kind::kRead);
  if (!snapshot.status().ok()) return snapshot.status();
  return FindVersion(db);
}

// Copies the database to FILE.vN.bak, or to FILE.vN.bak.1 and so on if that exists. The caller holds the writer's lock,
// so the copy holds exactly what the migration starts from.
absl::Status Backup(const std::string& path, int version) {
  const std::string name = absl::StrCat(path, ".v", version, ".bak");
  const std::string unfinished = name + ".tmp";
  std::error_code failed;
  std::filesystem::remove(unfinished, failed);
  {
    const auto source = sqlite::Connection::Open(path, absl::Seconds(10));
    if (!source.ok()) return source.status();
    const auto copy = sqlite::Connection::Open(unfinished, absl::Seconds(10));
    if (!copy.ok()) return copy.status();
    if (const absl::Status copied = (*source)->CopyTo(**copy); !copied.ok()) return copied;
  }
  std::string free = name;
  for (int i = 1; std::filesystem::exists(free, failed); ++i) free = absl::StrCat(name, ".", i);
  std::filesystem::rename(unfinished, free, failed);
  if (!failed) return absl::OkStatus();
  return absl::UnavailableError(
      absl::StrCat("cannot name the backup ", free, " (", failed.message(), "); ", path,
                   " was not migrated: check the directory, and run the same command again"));
}

}  // namespace

absl::Status PrepareSchema(sqlite::Connection& db) {
  const auto before = FindVersionAtOneInstant(db);
  if (!before.ok()) return before.status();
  if (const absl::Status log = db.UseDurableLog(); !log.ok()) return log;
  if (*before == kSchemaVersion) return absl::OkStatus();

  sqlite::Transaction transaction(db, sqlite::Transaction::Kind::kWrite);
  if (!transaction.status().ok()) return transaction.status();
  const auto version = FindVersion(db);
  if (!version.ok()) return version.status();
  if (*version == kSchemaVersion) return absl::OkStatus();
  if (*version > 0) {
    if (const absl::Status saved = Backup(db.path(), *version); !saved.ok()) return saved;
  }
  for (int step = *version; step < kSchemaVersion; ++step) {
    if (const absl::Status changed = db.Execute(kSteps[step]); !changed.ok()) return changed;
  }
  const absl::Status stamped = db.Execute(
      absl::StrCat("PRAGMA application_id = ", kApplicationId, "; PRAGMA user_version = ", kSchemaVersion));
  if (!stamped.ok()) return stamped;
  return transaction.Commit();
}

}  // namespace kiln
