#include "search/database/sqlite.h"

#include <fcntl.h>
#include <sqlite3.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <system_error>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "lang/base/check.h"

namespace kiln::sqlite {
namespace {

absl::Status NoPermission(const std::string& path, absl::string_view found) {
  return absl::PermissionDeniedError(absl::StrCat("cannot write ", path, " (", found,
                                                  "); the file and its directory must be writable for you: "
                                                  "change their permissions, or choose another file"));
}

// Returns an error if the path is a directory, or if the directory of the file is missing or not writable. Otherwise
// returns OK, without a look at the file itself. SQLite says "unable to open database file" for each of these reasons.
absl::Status CheckPath(const std::filesystem::path& path) {
  std::error_code ignored;
  const std::filesystem::path folder = path.parent_path();
  if (std::filesystem::is_directory(path, ignored)) {
    return absl::InvalidArgumentError(
        absl::StrCat(path.string(), " is a directory; give the name of a file in it"));
  }
  if (faccessat(AT_FDCWD, folder.c_str(), W_OK | X_OK, AT_EACCESS) == 0) return absl::OkStatus();
  if (errno != ENOENT && errno != ENOTDIR) return NoPermission(path, std::strerror(errno));
  return absl::NotFoundError(absl::StrCat("cannot make ", path.string(), ": the directory ", folder.string(),
                                          " does not exist; make it first, or choose another file"));
}

}  // namespace

absl::StatusOr<std::unique_ptr<Connection>> Connection::Open(const std::string& path,
                                                             absl::Duration patience) {
  if (path.empty())
    return absl::InvalidArgumentError("the path of the database is empty; give the name of a file");
  std::error_code no_directory;
  const std::filesystem::path absolute = std::filesystem::absolute(path, no_directory);
  if (no_directory) return absl::NotFoundError(absl::StrCat(path, ": ", no_directory.message()));
  if (const absl::Status usable = CheckPath(absolute); !usable.ok()) return usable;

  std::unique_ptr<Connection> db(new Connection(absolute.string(), patience));
  const int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE;
  if (const int code = sqlite3_open_v2(db->path_.c_str(), &db->db_, flags, nullptr); code != SQLITE_OK) {
    return db->Explain(code);
  }
  sqlite3_busy_timeout(db->db_, static_cast<int>(absl::ToInt64Milliseconds(patience)));
  if (sqlite3_db_readonly(db->db_, "main") == 1) return db->Explain(SQLITE_READONLY);
  if (const auto readable = db->Number("SELECT count(*) FROM sqlite_master"); !readable.ok())
    return readable.status();
  return db;
}

Connection::~Connection() { sqlite3_close(db_); }

absl::Status Connection::Explain(int code) const {
  const int system = db_ == nullptr ? 0 : sqlite3_system_errno(db_);
  const std::string found = db_ == nullptr ? sqlite3_errstr(code) : sqlite3_errmsg(db_);
  const std::string detail = system == 0 ? found : absl::StrCat(found, ": ", std::strerror(system));
  const auto no_space = [&] {
    return absl::ResourceExhaustedError(
        absl::StrCat("no space left to write ", path_, " (", detail,
                     "); nothing of this operation was stored; free some space and "
                     "run the same command again"));
  };
  switch (code & 0xff) {
    case SQLITE_NOTADB:
      return absl::InvalidArgumentError(
          absl::StrCat(path_, " is not a database (", detail,
                       "); it was left as it is: choose another file, or move it away"));
    case SQLITE_CORRUPT:
      return absl::DataLossError(absl::StrCat(
          path_, " is damaged (", detail, "); put back a copy of it, or save what can be read with: sqlite3 ",
          path_, " .recover"));
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
      return absl::UnavailableError(absl::StrCat(path_, " was locked by another process for more than ",
                                                 absl::FormatDuration(patience_),
                                                 "; wait for it or end it, and run the same command again"));
    case SQLITE_FULL:
      return no_space();
    case SQLITE_READONLY:
    case SQLITE_PERM:
    case SQLITE_AUTH:
      return NoPermission(path_, detail);
    case SQLITE_CANTOPEN:
    case SQLITE_IOERR:
      if (system == EACCES || system == EPERM || system == EROFS) return NoPermission(path_, detail);
      if (system == ENOSPC || system == EDQUOT) return no_space();
      return absl::UnavailableError(
          absl::StrCat("reading or writing ", path_, " failed (", detail,
                       "); check the disk and `ulimit -f`, and run the same command again"));
    case SQLITE_NOMEM:
      return absl::ResourceExhaustedError(absl::StrCat("out of memory while using ", path_));
    case SQLITE_TOOBIG:
      return absl::InvalidArgumentError(
          absl::StrCat(path_, " cannot hold a value this large (", detail, ")"));
    default:
      return absl::InternalError(absl::StrCat(path_, ": ", detail));
  }
}

absl::Status Connection::Execute(const std::string& sql) {
  const int code = sqlite3_exec(db_, sql.c_str(), nullptr, nullptr, nullptr);
  return code == SQLITE_OK ? absl::OkStatus() : Explain(code);
}

absl::StatusOr<int64_t> Connection::Number(const std::string& sql) {
  Query query(*this, sql);
  const bool found = query.Next();
  if (!query.status().ok()) return query.status();
  KILN_CHECK(found, sql);
  return query.Int(0);
}

absl::Status Connection::UseDurableLog() {
  // Switches to write-ahead logging, and tries again until the patience of the connection is over. If two processes
  // switch a new file at once, one gets SQLITE_BUSY immediately, without the usual wait.
  const absl::Time deadline = absl::Now() + patience_;
  while (true) {
    Query query(*this, "PRAGMA journal_mode = WAL");
    if (query.Next()) {
      if (query.Text(0) == "wal") break;
      return absl::FailedPreconditionError(absl::StrCat(path_,
                                                        " cannot use write-ahead logging (the mode stayed ",
                                                        query.Text(0), "); put it on a local file system"));
    }
    if (!absl::IsUnavailable(query.status()) || absl::Now() > deadline) return query.status();
    absl::SleepFor(absl::Milliseconds(5));
  }
  return Execute("PRAGMA synchronous = FULL; PRAGMA foreign_keys = ON; PRAGMA trusted_schema = OFF;");
}

absl::Status Connection::CopyTo(Connection& other) {
  sqlite3_backup* backup = sqlite3_backup_init(other.db_, "main", db_, "main");
  if (backup == nullptr) return other.Explain(sqlite3_extended_errcode(other.db_));
  sqlite3_backup_step(backup, -1);
  const int code = sqlite3_backup_finish(backup);
  return code == SQLITE_OK ? absl::OkStatus() : other.Explain(code);
}

int64_t Connection::last_id() const { return sqlite3_last_insert_rowid(db_); }

Query::Query(Connection& db, absl::string_view sql, Unbound) : db_(db) {
  Note(sqlite3_prepare_v2(db.db_, sql.data(), static_cast<int>(sql.size()), &statement_, nullptr));
}

Query::~Query() { sqlite3_finalize(statement_); }

void Query::Note(int code) {
  if (code != SQLITE_OK && status_.ok()) status_ = db_.Explain(code);
}

void Query::BindInt(int at, int64_t value) {
  if (status_.ok()) Note(sqlite3_bind_int64(statement_, at, value));
}

void Query::BindOne(int at, absl::string_view text) {
  // Binds an empty text for a null pointer, which SQLite would bind as NULL.
  const char* data = text.data() == nullptr ? "" : text.data();
  if (status_.ok())
    Note(sqlite3_bind_text64(statement_, at, data, text.size(), SQLITE_TRANSIENT, SQLITE_UTF8));
}

void Query::BindOne(int at, Blob blob) {
  const char* data = blob.bytes.data() == nullptr ? "" : blob.bytes.data();
  if (status_.ok()) Note(sqlite3_bind_blob64(statement_, at, data, blob.bytes.size(), SQLITE_TRANSIENT));
}

bool Query::Next() {
  if (!status_.ok()) return false;
  const int code = sqlite3_step(statement_);
  if (code == SQLITE_ROW) return true;
  if (code != SQLITE_DONE) Note(code);
  return false;
}

absl::Status Query::Run() {
  while (Next()) {
  }
  return status_;
}

int64_t Query::Int(int column) const { return sqlite3_column_int64(statement_, column); }

std::string Query::Text(int column) const {
  const void* data = sqlite3_column_blob(statement_, column);
  const int size = sqlite3_column_bytes(statement_, column);
  return data == nullptr ? std::string()
                         : std::string(static_cast<const char*>(data), static_cast<size_t>(size));
}

Transaction::Transaction(Connection& db, Kind kind)
    : db_(db), status_(db.Execute(kind == Kind::kWrite ? "BEGIN IMMEDIATE" : "BEGIN")), open_(status_.ok()) {}

Transaction::~Transaction() {
  if (open_) db_.Execute("ROLLBACK").IgnoreError();
}

absl::Status Transaction::Commit() {
  if (!open_) return status_;
  const absl::Status committed = db_.Execute("COMMIT");
  if (committed.ok()) open_ = false;
  return committed;
}

}  // namespace kiln::sqlite
