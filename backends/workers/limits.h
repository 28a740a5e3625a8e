// What a candidate's process may use and do. Both calls hold for the rest of the calling process.
#pragma once

#include <cstdint>
#include <string>

namespace kiln {

// From here on the process may get `bytes` more memory, about `seconds` of processor time on each core, may
// write `file_bytes` to any one file, and leaves no core dump.
void SetLimits(double seconds, int64_t bytes, int64_t file_bytes);

// Leaves the process the system calls that loading a library, computing, threads and memory need. Refused
// (EPERM) are: new processes and programs, opening files for writing, the network, signals to other
// processes, leaving the process group, and outliving the parent. Empty, or why it could not be done; then
// the process goes on without.
std::string RestrictSystemCalls();

}  // namespace kiln
