// A small wrapper of SQLite for the store: a connection, a query with sticky status, a transaction.
// The rest of search/database uses SQLite only through this header; only sqlite.cc includes
// sqlite3.h.
//
// Threads: a connection and its queries serve one thread. Errors: every status names the path, what
// was found and what to do (codes as in store.h).
#pragma once

#include <concepts>
#include <cstdint>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"

struct sqlite3;
struct sqlite3_stmt;

namespace kiln::sqlite {

// Bytes that a query binds as a blob. Plain strings are bound as text.
struct Blob {
  absl::string_view bytes;
};

class Connection {
 public:
  // Opens a database file for reading and writing, and creates it if it is missing. Changes nothing in an existing
  // file. Waits up to `patience` for a lock that another process holds.
  static absl::StatusOr<std::unique_ptr<Connection>> Open(const std::string& path, absl::Duration patience);
  ~Connection();
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  // Executes one or several SQL statements and ignores their rows.
  absl::Status Execute(const std::string& sql);
  // Executes an SQL query and returns the integer in the first column of the first row. The query must give a row.
  absl::StatusOr<int64_t> Number(const std::string& sql);
  // Turns on write-ahead logging, a sync at every commit, and the check of foreign keys. Returns kFailedPrecondition if
  // the file cannot use write-ahead logging, as on some network file systems.
  absl::Status UseDurableLog();
  // Copies the whole database, as of one instant, over the contents of `other`.
  absl::Status CopyTo(Connection& other);

  int64_t last_id() const;
  const std::string& path() const { return path_; }

 private:
  friend class Query;
  Connection(std::string path, absl::Duration patience) : path_(std::move(path)), patience_(patience) {}
  absl::Status Explain(int code) const;

  std::string path_;  // absolute
  absl::Duration patience_;
  sqlite3* db_ = nullptr;
};

// A prepared statement.
//
//   Query query(db, "SELECT id, name FROM workload WHERE hash = ?", hash);
//   while (query.Next()) use(query.Int(0), query.Text(1));
//   return query.status();
class Query {
 public:
  template <typename... Values>
  Query(Connection& db, absl::string_view sql, const Values&... values) : Query(db, sql, Unbound()) {
    BindAll(values...);
  }
  ~Query();
  Query(const Query&) = delete;
  Query& operator=(const Query&) = delete;

  // Steps the query to its next row. Returns false at the end or after a failure; status() tells which.
  bool Next();
  // Executes the query to its end and ignores its rows.
  absl::Status Run();
  const absl::Status& status() const { return status_; }

  // Return a column of the query's current row, counted from 0, as an integer or a string.
  int64_t Int(int column) const;
  std::string Text(int column) const;  // text or blob

 private:
  struct Unbound {};
  Query(Connection& db, absl::string_view sql, Unbound);
  template <typename... Values>
  void BindAll(const Values&... values) {
    int at = 0;
    (BindOne(++at, values), ...);
  }
  template <std::integral T>
  void BindOne(int at, T value) {
    BindInt(at, static_cast<int64_t>(value));
  }
  void BindOne(int at, absl::string_view text);
  void BindOne(int at, Blob blob);
  void BindInt(int at, int64_t value);
  void Note(int code);

  Connection& db_;
  sqlite3_stmt* statement_ = nullptr;
  absl::Status status_;
};

// A database transaction, begun by the constructor. A kWrite transaction holds the writer's lock from the start. The
// destructor rolls back unless Commit has succeeded.
class Transaction {
 public:
  enum class Kind { kRead, kWrite };
  Transaction(Connection& db, Kind kind);
  ~Transaction();
  Transaction(const Transaction&) = delete;
  Transaction& operator=(const Transaction&) = delete;

  const absl::Status& status() const { return status_; }  // whether the transaction has begun
  absl::Status Commit();

 private:
  Connection& db_;
  absl::Status status_;
  bool open_ = false;
};

}  // namespace kiln::sqlite
