// Exports a program that was compiled for a GPU as files that need nothing but NVIDIA's driver:
//
//   NAME.h       int NAME(void* stream, const void* A, ..., void* C, void* workspace), int64_t
//                NAME_workspace_bytes(void), const char* NAME_error(void), and int NAME_dl(void* stream, DLTensor*
//                const* tensors), which checks its tensors
//   NAME.c       the same functions, with the cubin in it; libNAME.so is compiled from it
//   NAME.cubin, NAME.ptx, and NAME.mlir and NAME.trace if they are given
//
// The functions open the driver when they are first called, load the cubin once, in any context, and otherwise allocate
// nothing, so that CUDA graphs may capture them. If the program has a prepare phase, NAME_prepare and NAME_prepare_dl
// must be called once per set of constants. Any thread.
#pragma once

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "backends/export/export.h"
#include "backends/runner/launch.h"
#include "lang/program/program.h"

namespace kiln {

// The compiled form of a program for a GPU, to be exported. An argument in `launches` is the position of a parameter
// (prepared arrays come after the program's own parameters), or an offset in the workspace.
struct GpuProduct {
  std::string chip = "";  // "sm_90a"
  std::string cubin = "", ptx = "";
  std::string mlir = "";  // empty: there is no NAME.mlir
  LaunchList launches = {};
  std::vector<PreparedParam> prepared = {};
};

struct GpuExportOptions {
  std::string trace = "";    // the text of NAME.trace; empty: no such file
  std::string checked = "";  // lines for the header about the comparison with the original
};

// Writes the files of a GPU program to `folder`, as Export (export.h) does for a CPU. libNAME.so needs a C compiler:
// CC, else cc in PATH. Without one it is missing, and Exported::remark says why. kInternal if the compiler fails;
// kFailedPrecondition if a file cannot be written.
absl::StatusOr<Exported> ExportGpu(const Program& program, absl::string_view name, const std::string& folder,
                                   const GpuProduct& product, const GpuExportOptions& options = {});

}  // namespace kiln
