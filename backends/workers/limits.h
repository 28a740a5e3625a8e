// Limits what a process that runs a candidate may use and do. Both functions limit the calling process until its end.
#pragma once

#include <cstdint>
#include <string>

namespace kiln {

// Limits this process to `bytes` more memory (not with AddressSanitizer), to processor time of about `seconds` for each
// core of the machine, summed over all threads, to `file_bytes` for any one file, and to 64 open files. A crash then
// leaves no core dump.
void SetLimits(double seconds, int64_t bytes, int64_t file_bytes);

// Restricts this process to the system calls for loading a library, reading files, writing to open files, computing,
// threads and memory. All others are refused (with EPERM, or ENOSYS for clone3, so that libc calls clone), among them
// those for new processes and programs, opening files for writing, the network, signals to other processes, leaving the
// process group, and outliving the parent. Returns an empty string, or why the restriction failed; the process then
// continues without it.
std::string RestrictSystemCalls();

}  // namespace kiln
