#include "backends/export/export.h"

#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <utility>

#include "absl/strings/str_cat.h"
#include "backends/codegen/pool_files.h"
#include "backends/cpu/machine.h"
#include "backends/export/header.h"
#include "backends/workers/write_all.h"
#include "lang/base/phase.h"
#include "lang/text/serialize.h"

namespace kiln {
namespace {

namespace fs = std::filesystem;

struct File {
  std::string path;
  std::string content;
  std::string temporary = {};
};

absl::Status CannotWrite(const std::string& path, int error) {
  return absl::FailedPreconditionError(absl::StrCat("cannot write ", path, ": ", std::strerror(error)));
}

absl::Status WriteTemporary(File& file) {
  file.temporary = absl::StrCat(file.path, ".", getpid(), ".new");
  const int fd = open(file.temporary.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  if (fd < 0) return CannotWrite(file.path, errno);
  const bool written = WriteAll(fd, file.content) && fsync(fd) == 0;
  const int error = errno;
  close(fd);
  return written ? absl::OkStatus() : CannotWrite(file.path, error);
}

absl::Status WriteFiles(std::vector<File>& files) {
  absl::Status status = absl::OkStatus();
  for (File& file : files) {
    if (status.ok()) status = WriteTemporary(file);
  }
  for (File& file : files) {
    if (status.ok() && rename(file.temporary.c_str(), file.path.c_str()) != 0)
      status = CannotWrite(file.path, errno);
  }
  for (const File& file : files) {
    if (!status.ok() && !file.temporary.empty()) unlink(file.temporary.c_str());
  }
  return status;
}

std::string MadeFor(const ExportOptions& options) {
  const std::string& triple = options.triple.empty() ? Host().triple : options.triple;
  const std::string& cpu = options.triple.empty() ? Host().cpu : options.cpu;
  return cpu.empty() ? triple : absl::StrCat(triple, ", ", cpu);
}

}  // namespace

absl::StatusOr<Exported> Export(const Program& program, absl::string_view name, const std::string& folder,
                                BuilderPool& builders, const ExportOptions& options) {
  const Phase phase("export");
  Exported exported{.name = SafeName(name), .files = {}};
  BuildRequest request{.program = Serialize(program),
                       .symbol = exported.name,
                       .outputs = {BuildOutput::kObject, BuildOutput::kMlir},
                       .contract = options.contract,
                       .policies = options.policies,
                       .alignment = 1,
                       .stands_alone = true,
                       .triple = options.triple,
                       .cpu = options.cpu,
                       .features = options.features,
                       .limits = options.limits};
  if (options.triple.empty()) request.outputs.push_back(BuildOutput::kSharedObject);
  const BuildResult built = builders.Submit(std::move(request)).get();
  if (!built.ok())
    return absl::FailedPreconditionError(absl::StrCat("cannot build ", exported.name, ": ", built.error));

  std::error_code error;
  fs::create_directories(folder, error);
  if (error) return CannotWrite(folder, error.value());
  const fs::path base(folder);
  const auto path = [&](absl::string_view before, absl::string_view after) {
    return (base / absl::StrCat(before, exported.name, after)).string();
  };
  std::vector<File> files;
  files.push_back(
      {path("", ".h"), HeaderText(program, built, exported.name, MadeFor(options), options.checked)});
  files.push_back({path("", ".o"), built.outputs[0]});
  files.push_back({path("", ".mlir"), built.outputs[1]});
  if (built.outputs.size() > 2) files.push_back({path("lib", ".so"), built.outputs[2]});
  if (built.takes_threads) files.push_back({(base / "kiln_pool.c").string(), PoolSource()});
  if (!options.trace.empty()) files.push_back({path("", ".trace"), options.trace});
  if (absl::Status status = WriteFiles(files); !status.ok()) return status;
  for (const File& file : files) exported.files.push_back(file.path);
  exported.prepared = built.prepared;
  return exported;
}

}  // namespace kiln
