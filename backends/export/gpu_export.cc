#include "backends/export/gpu_export.h"

#include <stdlib.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "absl/strings/str_cat.h"
#include "backends/export/files.h"
#include "backends/export/gpu_files.h"
#include "backends/workers/run_program.h"
#include "backends/workers/scratch_folder.h"
#include "lang/base/phase.h"

namespace kiln {
namespace {

std::string ReadFile(const std::string& path) {
  std::stringstream text;
  text << std::ifstream(path, std::ios::binary).rdbuf();
  return text.str();
}

// Compiles NAME.c, with NAME.h beside it, to a shared object, and returns its bytes. kNotFound if the C compiler cannot
// be run or dies from a signal; kInternal, with its messages, if it fails; kFailedPrecondition without a temporary
// folder.
absl::StatusOr<std::string> Compile(const std::string& name, const std::string& header,
                                    const std::string& source) {
  const auto folder = ScratchFolder::Make();
  if (!folder.ok()) return folder.status();
  const std::string base = absl::StrCat((*folder)->path(), "/", name), log = base + ".log",
                    library = base + ".so";
  std::ofstream(base + ".h") << header;
  std::ofstream(base + ".c") << source;
  const char* given = getenv("CC");
  const std::string compiler = given == nullptr || *given == 0 ? "cc" : given;
  const int status = RunProgram({compiler, "-std=gnu99", "-O2", "-fPIC", "-shared", "-s", "-pthread",
                                 base + ".c", "-o", library, "-ldl"},
                                log);
  if (status == -1)
    return absl::NotFoundError(absl::StrCat("there is no C compiler \"", compiler, "\"; set CC"));
  if (status != 0)
    return absl::InternalError(absl::StrCat(compiler, " failed with status ", status, ": ", ReadFile(log)));
  return ReadFile(library);
}

}  // namespace

absl::StatusOr<Exported> ExportGpu(const Program& program, absl::string_view name, const std::string& folder,
                                   const GpuProduct& product, const GpuExportOptions& options) {
  const Phase phase("export");
  Exported exported{.name = SafeName(name), .files = {}, .prepared = product.prepared};
  const std::string header = GpuHeaderText(program, exported.name, product, options.checked),
                    source = GpuSourceText(program, exported.name, product);
  const auto library = Compile(exported.name, header, source);
  if (absl::IsInternal(library.status())) return library.status();
  if (!library.ok())
    exported.remark = absl::StrCat("lib", exported.name, ".so is not written: ", library.status().message());

  const std::filesystem::path base(folder);
  std::vector<NewFile> files;
  const auto add = [&](absl::string_view before, absl::string_view after, const std::string& content) {
    if (!content.empty())
      files.push_back({(base / absl::StrCat(before, exported.name, after)).string(), content});
  };
  add("", ".h", header);
  add("", ".c", source);
  if (library.ok()) add("lib", ".so", *library);
  add("", ".cubin", product.cubin);
  add("", ".ptx", product.ptx);
  add("", ".mlir", product.mlir);
  add("", ".trace", options.trace);
  if (absl::Status status = WriteFiles(folder, files); !status.ok()) return status;
  for (const NewFile& file : files) exported.files.push_back(file.path);
  return exported;
}

}  // namespace kiln
