#include "backends/export/export.h"

#include <filesystem>
#include <limits>
#include <utility>

#include "absl/strings/str_cat.h"
#include "backends/codegen/pool_files.h"
#include "backends/cpu/machine.h"
#include "backends/export/files.h"
#include "backends/export/header.h"
#include "lang/base/phase.h"
#include "lang/text/serialize.h"

namespace kiln {
namespace {

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
                       .table_above = std::numeric_limits<int64_t>::max(),
                       .triple = options.triple,
                       .cpu = options.cpu,
                       .features = options.features,
                       .limits = options.limits};
  if (options.triple.empty()) request.outputs.push_back(BuildOutput::kSharedObject);
  const BuildResult built = builders.Submit(std::move(request)).get();
  if (!built.ok())
    return absl::FailedPreconditionError(absl::StrCat("cannot build ", exported.name, ": ", built.error));

  const std::filesystem::path base(folder);
  const auto path = [&](absl::string_view before, absl::string_view after) {
    return (base / absl::StrCat(before, exported.name, after)).string();
  };
  std::vector<NewFile> files;
  files.push_back(
      {path("", ".h"), HeaderText(program, built, exported.name, MadeFor(options), options.checked)});
  files.push_back({path("", ".o"), built.outputs[0]});
  files.push_back({path("", ".mlir"), built.outputs[1]});
  if (built.outputs.size() > 2) files.push_back({path("lib", ".so"), built.outputs[2]});
  if (built.takes_threads) files.push_back({(base / "kiln_pool.c").string(), PoolSource()});
  if (!options.trace.empty()) files.push_back({path("", ".trace"), options.trace});
  if (absl::Status status = WriteFiles(folder, files); !status.ok()) return status;
  for (const NewFile& file : files) exported.files.push_back(file.path);
  exported.prepared = built.prepared;
  return exported;
}

}  // namespace kiln
