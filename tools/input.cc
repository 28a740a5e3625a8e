#include "tools/input.h"

#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>

#include "absl/strings/str_cat.h"
#include "backends/workers/write_all.h"
#include "lang/base/mixer.h"
#include "lang/base/phase.h"

namespace kiln::tools {
namespace {

// Several tasks, one of them with a reduction.
bool IsModel(const std::vector<Task>& tasks) {
  if (tasks.size() < 2) return false;
  for (const Task& task : tasks) {
    for (const BlockNode& block : task.program.blocks) {
      if (block.monoid != kNone) return true;
    }
  }
  return false;
}

// Standard input as a file without a name, which lives as long as this process.
absl::StatusOr<std::string> ReadStandardInput(std::string* digest) {
  const int file = memfd_create("stdin", MFD_CLOEXEC);
  if (file < 0)
    return absl::UnavailableError(absl::StrCat("cannot keep standard input: ", std::strerror(errno)));
  Mixer mixer;
  char buffer[1 << 16];
  for (ssize_t size; (size = read(STDIN_FILENO, buffer, sizeof buffer)) != 0;) {
    if (size < 0 && errno == EINTR) continue;
    if (size < 0 || !WriteAll(file, absl::string_view(buffer, static_cast<size_t>(size))))
      return absl::UnavailableError(absl::StrCat("cannot read standard input: ", std::strerror(errno)));
    for (ssize_t i = 0; i < size; ++i) mixer.Add(static_cast<unsigned char>(buffer[i]));
  }
  *digest = absl::StrCat(absl::Hex(mixer.Finish().high, absl::kZeroPad16));
  return absl::StrCat("/proc/self/fd/", file);
}

absl::Status CheckPath(const std::string& path) {
  std::error_code error;
  if (!std::filesystem::exists(path, error))
    return absl::NotFoundError(absl::StrCat(path, ": there is no such file"));
  if (!std::filesystem::is_directory(path, error)) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat(path, ": is a directory, wanted a file with linalg on tensors"));
}

}  // namespace

void AddInput(CLI::App& command, InputOption* option) {
  command.add_option("FILE", option->file, "Linalg on tensors, as MLIR; - is standard input")->required();
  command.add_option("--function", option->function,
                     "Which function of the file; its only public one, or main, by default");
}

absl::StatusOr<Input> LoadInput(const InputOption& option) {
  const Phase phase("import");
  Input input;
  input.path = option.file;
  ImportOptions options;
  options.entry = option.function;
  if (option.file == "-") {
    auto path = ReadStandardInput(&input.digest);
    if (!path.ok()) return path.status();
    input.path = *std::move(path);
    options.name = "stdin";
  } else if (const absl::Status usable = CheckPath(option.file); !usable.ok()) {
    return usable;
  }
  absl::StatusOr<Imported> whole = ImportFile(input.path, options);
  if (!whole.ok()) {
    options.allow_boundaries = true;
    const absl::Status refusal = whole.status();
    whole = ImportFile(input.path, options);
    if (!whole.ok()) return refusal;
    absl::StatusOr<std::vector<Task>> tasks = ExtractTasks(whole->program);
    if (!tasks.ok() || !IsModel(*tasks)) return refusal;
    input.boundaries = std::move(whole->boundaries);
    input.tasks = *std::move(tasks);
    return input;
  }
  absl::StatusOr<std::vector<Task>> tasks = ExtractTasks(whole->program);
  if (!tasks.ok()) return tasks.status();
  if ((*tasks)[0].program.blocks.empty()) {
    return absl::InvalidArgumentError(absl::StrCat(option.file, ": computes nothing that could be tuned"));
  }
  input.tasks = *std::move(tasks);
  return input;
}

}  // namespace kiln::tools
