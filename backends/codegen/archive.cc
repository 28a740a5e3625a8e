#include "backends/codegen/archive.h"

#include "absl/strings/str_cat.h"
#include "llvm/Object/ArchiveWriter.h"
#include "llvm/Support/MemoryBuffer.h"

namespace kiln {

absl::StatusOr<std::string> Archive(absl::Span<const std::pair<std::string, std::string>> members) {
  std::vector<llvm::NewArchiveMember> added;
  for (const auto& [name, bytes] : members) added.emplace_back(llvm::MemoryBufferRef(bytes, name));
  auto archive =
      llvm::writeArchiveToBuffer(added, llvm::SymtabWritingMode::NormalSymtab, llvm::object::Archive::K_GNU,
                                 /*Deterministic=*/true, /*Thin=*/false);
  if (!archive)
    return absl::InvalidArgumentError(absl::StrCat("no archive: ", llvm::toString(archive.takeError())));
  return (*archive)->getBuffer().str();
}

}  // namespace kiln
