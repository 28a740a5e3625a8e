#include "backends/model/prepare_weights.h"

#include <dlfcn.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstring>
#include <fstream>

#include "absl/cleanup/cleanup.h"
#include "absl/strings/str_cat.h"
#include "backends/model/weights_writer.h"
#include "backends/workers/child.h"
#include "backends/workers/write_all.h"

namespace kiln {
namespace {

// Loads the model's library and calls NAME_prepare, which writes `weights`. Returns "", or a message that says what
// went wrong. Runs in a child process.
std::string Prepare(const std::string& shared_object, const std::string& name,
                    const std::vector<absl::string_view>& constants, void* weights) {
  const int file = memfd_create("kiln-model", MFD_CLOEXEC);
  if (file < 0 || !WriteAll(file, shared_object)) return "there is no memory for the library";
  void* library = dlopen(absl::StrCat("/proc/self/fd/", file).c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) return absl::StrCat("the library cannot be loaded: ", dlerror());
  using Function = int(const void* const*, void*);
  auto* prepare = reinterpret_cast<Function*>(dlsym(library, absl::StrCat(name, "_prepare").c_str()));
  if (prepare == nullptr) return absl::StrCat("the library has no ", name, "_prepare");
  std::vector<const void*> table;
  for (const absl::string_view constant : constants) table.push_back(constant.data());
  return prepare(table.data(), weights) == 0 ? "" : "its prepare phase found no memory";
}

absl::StatusOr<int64_t> OffsetIn(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  uint64_t header = 0;
  if (!file.read(reinterpret_cast<char*>(&header), sizeof header))
    return absl::UnavailableError(absl::StrCat(path, " cannot be read"));
  return static_cast<int64_t>(sizeof header + header);
}

}  // namespace

absl::StatusOr<int64_t> PrepareWeights(const std::string& shared_object, const std::string& name,
                                       const std::vector<absl::string_view>& constants, int64_t bytes,
                                       const std::string& path) {
  void* weights =
      mmap(nullptr, static_cast<size_t>(bytes), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (weights == MAP_FAILED)
    return absl::UnavailableError(
        absl::StrCat("no memory for ", bytes, " bytes of weights: ", std::strerror(errno)));
  const absl::Cleanup unmap = [&] { munmap(weights, static_cast<size_t>(bytes)); };
  const auto said = RunInChild([&] { return "." + Prepare(shared_object, name, constants, weights); },
                               {.memory = 2 * bytes + (int64_t{8} << 30)});
  if (!said.ok())
    return absl::FailedPreconditionError(
        absl::StrCat("the prepare phase of ", name, " ended with ", said.status().message()));
  if (said->size() > 1) return absl::FailedPreconditionError(absl::StrCat(name, ": ", said->substr(1)));
  auto writer = WeightsWriter::Create(path, {{.name = "weights", .dtype = DType::kU8, .shape = {bytes}}});
  if (!writer.ok()) return writer.status();
  absl::Status status = writer->Append({static_cast<const char*>(weights), static_cast<size_t>(bytes)});
  if (status.ok()) status = writer->Finish();
  if (!status.ok()) return status;
  return OffsetIn(path);
}

}  // namespace kiln
