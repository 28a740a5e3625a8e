#include <type_traits>

#include "absl/strings/str_cat.h"
#include "backends/import/import_terminated.h"
#include "backends/workers/child.h"
#include "backends/workers/wire.h"
#include "lang/text/serialize.h"
#include "llvm/Support/MemoryBuffer.h"

namespace kiln {
namespace {

// What the child sends to its parent: the imported program, or an error.
struct Answer {
  std::string error;     // empty for success
  bool nothing = false;  // the error means that there is nothing to compute
  std::string program;
  std::vector<std::string> arguments;
  std::vector<Boundary> boundaries;
  std::vector<std::string> between;
  std::vector<LargeConstant> large_constants;
};

struct AnswerFields {
  static void Of(auto& visit, auto& value) {
    using T = std::remove_cvref_t<decltype(value)>;
    if constexpr (std::is_same_v<T, Boundary>) {
      visit(value.location, value.op, value.reason, value.hint, value.code, value.results, value.operands);
    } else if constexpr (std::is_same_v<T, LargeConstant>) {
      visit(value.buffer, value.offset, value.bytes);
    } else {
      visit(value.error, value.nothing, value.program, value.arguments, value.boundaries, value.between,
            value.large_constants);
    }
  }
};

absl::StatusOr<Imported> ReadAndImport(const std::string& path, const ImportOptions& options) {
  const auto file = llvm::MemoryBuffer::getFile(path);
  if (!file) return absl::InvalidArgumentError(absl::StrCat(path, ": ", file.getError().message()));
  const llvm::StringRef text = (*file)->getBuffer();
  return ImportTerminated({text.data(), text.size()}, options.name.empty() ? path : options.name, options);
}

std::string InChild(const std::string& path, const ImportOptions& options) {
  if (options.in_child) options.in_child();
  absl::StatusOr<Imported> imported = ReadAndImport(path, options);
  if (!imported.ok()) {
    return WireEncode<AnswerFields>(Answer{
        std::string(imported.status().message()), absl::IsOutOfRange(imported.status()), {}, {}, {}, {}, {}});
  }
  return WireEncode<AnswerFields>(Answer{"", false, Serialize(imported->program),
                                         std::move(imported->arguments), std::move(imported->boundaries),
                                         std::move(imported->between), std::move(imported->large_constants)});
}

}  // namespace

absl::StatusOr<Imported> ImportFile(const std::string& path, const ImportOptions& options) {
  const auto bytes = RunInChild([&] { return InChild(path, options); },
                                {.time = options.time_limit, .memory = options.memory_limit});
  const std::string why(bytes.status().message());
  if (absl::IsDeadlineExceeded(bytes.status()))
    return absl::InvalidArgumentError(absl::StrCat(path, ": importing took ", why));
  if (absl::IsAborted(bytes.status())) {
    return absl::InvalidArgumentError(absl::StrCat(path, ": the importer crashed on this file (", why,
                                                   ")\n  hint: check that mlir-opt of LLVM 22 reads it"));
  }
  if (!bytes.ok()) return bytes.status();
  Answer answer;
  if (!WireDecode<AnswerFields>(*bytes, &answer)) {
    return absl::InvalidArgumentError(
        absl::StrCat(path, ": the importing process ended in the middle of its answer"));
  }
  if (answer.nothing) return absl::OutOfRangeError(answer.error);
  if (!answer.error.empty()) return absl::InvalidArgumentError(answer.error);
  auto program = Deserialize(answer.program);
  if (!program.ok()) return program.status();
  return Imported{*std::move(program), std::move(answer.arguments), std::move(answer.boundaries),
                  std::move(answer.between), std::move(answer.large_constants)};
}

}  // namespace kiln
