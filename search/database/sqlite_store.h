// The store in one SQLite file: the default.
//
// The file is created on first use. While it is open, SQLite keeps FILE-wal and FILE-shm beside it: copy all
// three, or use the export of json_lines.h. Several processes may use one file. A writer waits for other
// transactions, which take milliseconds. The file must be on a local file system. A file of an older version
// is migrated and a copy kept; a file of a newer version is refused (schema.h).
//
// Every operation that changes something is one transaction, synced to disk before it returns. Measured on a
// busy two-core machine with a virtual disk, with traces of 3 KB (medians): appending takes 2 to 4 ms for
// one record and 11 ms for 64, and a few times that if the disk is busy. Best reads all samples of the
// workload, about 20 us a record.
//
// The process must not open the file by other means while it is open here: closing it would drop SQLite's
// locks.
#pragma once

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "search/database/store.h"

namespace kiln {

struct StoreOptions {
  // How long to wait for the lock of another process before giving up with kUnavailable.
  absl::Duration patience = absl::Seconds(10);
};

absl::StatusOr<std::unique_ptr<Store>> OpenStore(const std::string& path, const StoreOptions& options = {});

}  // namespace kiln
