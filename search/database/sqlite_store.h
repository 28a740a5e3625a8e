// The store in one SQLite file: the default.
//
// The file is made on first use. Beside it SQLite keeps FILE-wal and FILE-shm while it is open: copy all
// three, or use the export of json_lines.h. Several processes may use one file; a writer waits for the
// other's transaction, which takes milliseconds. It must lie on a local file system. A file of an older Kiln
// is migrated and a copy of it kept, a newer one is refused (schema.h).
//
// Every operation that changes something is one transaction that is synced to the disk before it returns.
// Measured on a busy two-core machine with a virtual disk, traces of 3 KB: appending takes 2 to 4 ms for one
// record and 11 ms for 64 (median), a few times that when the disk is busy. Best reads all samples of the
// workload: about 20 us a record.
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
