#include "api/internal/input.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "api/errors.h"
#include "backends/import/join_foreign.h"
#include "backends/workers/write_all.h"
#include "lang/base/mixer.h"
#include "lang/base/phase.h"

namespace kiln::api {
namespace {

constexpr size_t kArgumentsOfAModel = 8;

// Returns true if the tasks are those of a model: several tasks, or one that occurs several times, and at least one has
// a reduction.
bool IsModel(const std::vector<Task>& tasks) {
  if (tasks.size() < 2 && (tasks.empty() || tasks[0].occurrences.size() < 2)) return false;
  for (const Task& task : tasks) {
    for (const BlockNode& block : task.program.blocks) {
      if (block.monoid != kNone) return true;
    }
  }
  return false;
}

std::vector<std::string> InputsOf(const Source& source) {
  std::vector<std::string> inputs;
  if (source.inputs.empty()) return inputs;
  for (absl::string_view name : absl::StrSplit(source.inputs, ',')) {
    name = absl::StripAsciiWhitespace(name);
    inputs.emplace_back(absl::StripPrefix(name, "%"));
  }
  return inputs;
}

// Adds a note for the user if a model with 8 or more arguments (kArgumentsOfAModel) has no constant, which is seldom
// meant, and the user did not say which arguments are inputs.
void NoteRoles(Input* input) {
  const size_t arguments = input->file_content.arguments.size();
  if (arguments < kArgumentsOfAModel || !input->inputs.empty() || !IsModel(input->tasks)) return;
  for (const Id id : input->program.parameters) {
    if (input->program.buffers[id].role == Role::kConstant) return;
  }
  input->notes.push_back(
      absl::StrCat("all ", arguments,
                   " arguments of the model are inputs; if some are weights, say which are not: --inputs 1 "
                   "(only the first), or their names, --inputs x,y"));
}

absl::Status ExtractTasksOf(Input* input) {
  auto tasks = ExtractTasks(input->program, input->policies, {}, input->foreign);
  if (!tasks.ok()) return tasks.status();
  input->tasks = *std::move(tasks);
  return absl::OkStatus();
}

// Simplifies the imported model and cuts it into tasks, which it stores in `input` with the program. Changes nothing if
// SimplifyModel leaves the model alone.
absl::Status CutModel(Input* input) {
  Program model = input->file_content.program;
  input->simplified = SimplifyModel(model, input->policies);
  if (!input->simplified.applied) return absl::OkStatus();
  input->foreign = JoinForeign(input->file_content, model);
  input->program = std::move(model);
  return ExtractTasksOf(input);
}

// Cuts the imported file into tasks, which it stores in `input` with the program. A model is simplified first.
absl::Status CutIntoTasks(Input* input) {
  input->imported = input->file_content.program;
  input->imported_foreign = JoinForeign(input->file_content, input->imported);
  input->program = input->imported;
  input->foreign = input->imported_foreign;
  if (const absl::Status cut = ExtractTasksOf(input); !cut.ok()) return cut;
  return IsModel(input->tasks) ? CutModel(input) : absl::OkStatus();
}

absl::Status MapConstants(const std::vector<LargeConstant>& constants, Input* input) {
  int64_t size = 0;
  for (const LargeConstant& c : constants) size = std::max(size, c.offset + c.bytes);
  MemoryFile& file = *input->embedded_file;
  void* const memory = mmap(nullptr, static_cast<size_t>(size), PROT_READ, MAP_SHARED, file.fd, 0);
  if (memory == MAP_FAILED) return absl::UnavailableError("there is no memory for the constants of the file");
  file.bytes = {static_cast<const char*>(memory), static_cast<size_t>(size)};
  for (const LargeConstant& c : constants)
    input->embedded[c.buffer] =
        file.bytes.substr(static_cast<size_t>(c.offset), static_cast<size_t>(c.bytes));
  return absl::OkStatus();
}

// Imports the file and cuts it into tasks. If the import fails, imports it again with the operations that Kiln cannot
// express as boundaries. Returns the first error if the file is then no model and is not wanted as a whole. `detaches`:
// whether large constants of a model become parameters. A file with such constants that is no model is imported again
// with them in place.
absl::Status Import(ImportOptions options, bool detaches, Input* input) {
  const bool whole_wanted = input->source.whole;
  options.large_constants = -1;
  if (detaches) {
    input->embedded_file = std::make_shared<MemoryFile>();
    options.large_constants = input->embedded_file->fd = memfd_create("kiln-constants", MFD_CLOEXEC);
  }
  absl::StatusOr<Imported> whole = ImportFile(input->path, options);
  const absl::Status refusal = whole.status();
  if (!whole.ok()) {
    options.allow_boundaries = true;
    whole = ImportFile(input->path, options);
    if (!whole.ok()) return whole_wanted ? whole.status() : refusal;
  }
  const std::vector<LargeConstant> large = std::move(whole->large_constants);
  input->file_content = *std::move(whole);
  const absl::Status cut = CutIntoTasks(input);
  if (!refusal.ok() && (!cut.ok() || (!whole_wanted && !IsModel(input->tasks)))) return refusal;
  if (!cut.ok() || large.empty()) return cut;
  if (!IsModel(input->tasks)) return Import(std::move(options), /*detaches=*/false, input);
  return MapConstants(large, input);
}

absl::Status CannotRead(const std::string& what) {
  return absl::UnavailableError(absl::StrCat("cannot read ", what, ": ", std::strerror(errno)));
}

absl::StatusOr<std::string> ReadStandardInput() {
  std::string text;
  char buffer[1 << 16];
  for (ssize_t size; (size = read(STDIN_FILENO, buffer, sizeof buffer)) != 0;) {
    if (size < 0 && errno == EINTR) continue;
    if (size < 0) return CannotRead("standard input");
    text.append(buffer, static_cast<size_t>(size));
  }
  return text;
}

std::string DigestOf(absl::string_view text) {
  Mixer mixer;
  for (const char c : text) mixer.Add(static_cast<unsigned char>(c));
  return absl::StrCat(absl::Hex(mixer.Finish().high, absl::kZeroPad16));
}

// Stores the text in an anonymous file that lives as long as `input`.
absl::Status KeepText(absl::string_view text, const std::string& what, Input* input) {
  input->file = std::make_shared<MemoryFile>();
  input->file->fd = memfd_create("kiln-text", MFD_CLOEXEC);
  if (input->file->fd < 0 || !WriteAll(input->file->fd, text)) return CannotRead(what);
  input->path = absl::StrCat("/proc/self/fd/", input->file->fd);
  input->digest = DigestOf(text);
  return absl::OkStatus();
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

MemoryFile::~MemoryFile() {
  if (!bytes.empty()) munmap(const_cast<char*>(bytes.data()), bytes.size());
  if (fd >= 0) close(fd);
}

absl::StatusOr<Input> LoadInput(const Source& source, const std::string& without) {
  const Phase phase("import");
  const absl::StatusOr<Policies> policies = Policies::Without(without);
  if (!policies.ok()) return Mistake(policies.status());
  Input input;
  input.policies = *policies;
  input.layout_is_open =
      !absl::StrContains(without, PolicyRows()[static_cast<int>(Policy::kChannelsLast)].name);
  input.source = source;
  input.path = source.path;
  ImportOptions options;
  options.entry = source.function;
  options.inputs = InputsOf(source);
  input.inputs = options.inputs;
  if (source.path == "-") {
    const absl::StatusOr<std::string> text = ReadStandardInput();
    if (!text.ok()) return text.status();
    options.name = "stdin";
    if (const absl::Status kept = KeepText(*text, "standard input", &input); !kept.ok()) return kept;
  } else if (source.path.empty()) {
    options.name = source.name.empty() ? "text" : source.name;
    if (const absl::Status kept = KeepText(source.text, options.name, &input); !kept.ok()) return kept;
  } else if (const absl::Status usable = CheckPath(source.path); !usable.ok()) {
    return usable;
  }
  input.shown = source.path.empty() ? options.name : source.path;
  if (const absl::Status imported = Import(options, /*detaches=*/true, &input); !imported.ok())
    return imported;
  if (input.foreign.empty() && input.tasks[0].program.blocks.empty())
    return absl::InvalidArgumentError(absl::StrCat(input.shown, ": computes nothing that could be tuned"));
  NoteRoles(&input);
  return input;
}

absl::StatusOr<std::optional<Input>> WithChannelsLast(const Input& input) {
  if (!input.simplified.applied || input.policies.Has(Policy::kChannelsLast)) return std::nullopt;
  Input last = input;
  last.policies.Switch(Policy::kChannelsLast);
  if (const absl::Status cut = CutModel(&last); !cut.ok()) return cut;
  if (last.simplified.permuted == 0) return std::nullopt;
  return last;
}

}  // namespace kiln::api
