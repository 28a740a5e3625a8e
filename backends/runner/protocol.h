// Converts the requests and results of kiln-runner to bytes and back. The bytes travel as frames
// (backends/workers/frames.h) between processes of one machine, and the requests of a bundle as files to the machine of
// a GPU (backends/measure/gpu_bundle.h). A request begins with the version of the format, because kiln and kiln-runner
// may come from different builds: add a version when fields change. Data of kernels for a new machine go into
// KernelObject::fields, which needs no new version. The fields with tags 2 to 4 are in
// backends/gpu/driver/wanted_elements.h; the others are:
//
//   fields: [{tag 1, the launches of a GPU: blocks, threads, bytes of shared memory, ..},
//            {tag 5, how the emulator runs the kernel (emulator/emulator.h)}]
#pragma once

#include <string>

#include "absl/strings/string_view.h"
#include "backends/runner/runner.h"

namespace kiln {

// The version of the format, with which each request begins. Versions begin at 2; requests of earlier builds have none.
inline constexpr absl::string_view kRunProtocol = "kiln-run 3\n";

std::string Encode(const RunRequest& request);
std::string Encode(const RunResult& result);

// Convert bytes to a request or a result. Return false, and an unspecified value, if the bytes are too short or too
// long, or contain an unknown role of a parameter or an unknown status. A request of another version is refused too.
bool Decode(const std::string& bytes, RunRequest* request);
bool Decode(const std::string& bytes, RunResult* result);

}  // namespace kiln
