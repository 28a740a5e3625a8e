#include "backends/codegen/symbol_bytes.h"

#include "absl/strings/str_cat.h"
#include "llvm/Object/ELFObjectFile.h"
#include "llvm/Support/MemoryBuffer.h"

namespace kiln {
namespace {

// Returns the bytes of the object's memory at [address, address + size); empty if no section holds them.
llvm::StringRef At(const llvm::object::ObjectFile& object, uint64_t address, uint64_t size) {
  for (const llvm::object::SectionRef& section : object.sections()) {
    auto contents = section.getContents();
    if (!contents) {
      llvm::consumeError(contents.takeError());
      continue;
    }
    const uint64_t begin = section.getAddress();
    if (address >= begin && size <= contents->size() && address - begin <= contents->size() - size)
      return contents->substr(address - begin, size);
  }
  return {};
}

}  // namespace

absl::StatusOr<std::string> BytesOfSymbol(const std::string& object, absl::string_view suffix) {
  auto parsed = llvm::object::ObjectFile::createELFObjectFile(llvm::MemoryBufferRef(object, "library"));
  if (!parsed)
    return absl::InvalidArgumentError(
        absl::StrCat("not a shared object: ", llvm::toString(parsed.takeError())));
  const auto* elf = llvm::dyn_cast<llvm::object::ELFObjectFileBase>(parsed->get());
  for (const llvm::object::ELFSymbolRef symbol : elf->getDynamicSymbolIterators()) {
    auto name = symbol.getName();
    auto address = symbol.getAddress();
    if (!name || !address) {
      llvm::consumeError(name.takeError());
      llvm::consumeError(address.takeError());
      continue;
    }
    if (!name->ends_with(llvm::StringRef(suffix.data(), suffix.size()))) continue;
    const llvm::StringRef bytes = At(**parsed, *address, symbol.getSize());
    if (!bytes.empty()) return bytes.str();
  }
  return absl::NotFoundError(absl::StrCat("no symbol *", suffix));
}

}  // namespace kiln
