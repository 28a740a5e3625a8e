#include "backends/codegen/link.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <gnu/lib-names.h>
#include <math.h>
#include <spawn.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <mutex>
#include <set>
#include <thread>
#include <utility>

#include "absl/cleanup/cleanup.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "backends/workers/write_all.h"
#include "lld/Common/Driver.h"
#include "llvm/Object/ELFObjectFile.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/raw_ostream.h"

LLD_HAS_DRIVER(elf)

extern char** environ;

namespace kiln {
namespace {

namespace fs = std::filesystem;

struct Symbols {
  std::set<std::string> defined;
  std::set<std::string> undefined;
};

absl::Status Collect(const std::string& bytes, Symbols& symbols) {
  auto object = llvm::object::ObjectFile::createObjectFile(llvm::MemoryBufferRef(bytes, "kernel.o"));
  if (!object) {
    return absl::InvalidArgumentError(
        absl::StrCat("not an object file: ", llvm::toString(object.takeError())));
  }
  for (const llvm::object::SymbolRef& symbol : (*object)->symbols()) {
    auto flags = symbol.getFlags();
    auto name = symbol.getName();
    if (!flags || !name) {
      llvm::consumeError(flags.takeError());
      llvm::consumeError(name.takeError());
      return absl::InvalidArgumentError("malformed symbol table");
    }
    if (name->empty() || (*flags & llvm::object::SymbolRef::SF_FormatSpecific) != 0) continue;
    const bool weak = (*flags & llvm::object::SymbolRef::SF_Weak) != 0;
    if ((*flags & llvm::object::SymbolRef::SF_Undefined) != 0) {
      if (weak) continue;
      symbols.undefined.insert(name->str());
    } else if ((*flags & llvm::object::SymbolRef::SF_Global) != 0) {
      symbols.defined.insert(name->str());
    }
  }
  return absl::OkStatus();
}

// A system library that this process has loaded: its handle, and the path of its file, with which objects are linked.
struct Library {
  void* handle;
  std::string path;
};

Library Load(const char* name, void* some_function) {
  Dl_info info;
  dladdr(some_function, &info);
  return {dlopen(name, RTLD_LAZY), info.dli_fname};
}

const std::vector<Library>& SystemLibraries() {
  static const auto* const libraries =
      new std::vector<Library>{Load(LIBM_SO, reinterpret_cast<void*>(static_cast<double (*)(double)>(&cbrt))),
                               Load(LIBC_SO, reinterpret_cast<void*>(&memcpy))};
  return *libraries;
}

// Returns the paths of the system libraries (libm, libc) that define undefined symbols of the objects. kInvalidArgument
// if neither defines such a symbol, or if no object defines a symbol to export.
absl::StatusOr<std::vector<std::string>> Resolve(const Symbols& symbols, const LinkOptions& options) {
  std::vector<std::string> unknown;
  for (const std::string& name : options.exports) {
    if (symbols.defined.count(name) == 0) unknown.push_back(name);
  }
  if (!unknown.empty()) {
    return absl::InvalidArgumentError(
        absl::StrCat("no object defines what is to be exported: ", absl::StrJoin(unknown, ", ")));
  }
  std::vector<std::string> paths;
  std::set<std::string> missing = symbols.undefined;
  for (const std::string& name : symbols.defined) missing.erase(name);
  missing.erase("_GLOBAL_OFFSET_TABLE_");
  for (const Library& library : SystemLibraries()) {
    const size_t before = missing.size();
    for (auto name = missing.begin(); name != missing.end();) {
      Dl_info info;
      void* const address = library.handle == nullptr ? nullptr : dlsym(library.handle, name->c_str());
      const bool here = address != nullptr && dladdr(address, &info) != 0 &&
                        fs::path(info.dli_fname) == fs::path(library.path);
      name = here ? missing.erase(name) : std::next(name);
    }
    if (missing.size() != before) paths.push_back(library.path);
  }
  if (missing.empty()) return paths;
  return absl::InvalidArgumentError(
      absl::StrCat("undefined symbols that neither libc nor libm has: ", absl::StrJoin(missing, ", ")));
}

// Owns a file descriptor, and has a path for code that opens files by name.
class Descriptor {
 public:
  explicit Descriptor(int number) : number_(number) {}
  ~Descriptor() { Close(); }
  Descriptor(Descriptor&& other) noexcept : number_(std::exchange(other.number_, -1)) {}
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;

  int number() const { return number_; }
  std::string path() const { return absl::StrCat("/proc/self/fd/", number_); }
  void Close() {
    if (number_ >= 0) close(std::exchange(number_, -1));
  }

 private:
  int number_;
};

// Creates a file in memory with these bytes. number() of the result is below 0 if that fails.
Descriptor InMemory(absl::string_view bytes) {
  Descriptor file(memfd_create("kiln-link", MFD_CLOEXEC));
  return file.number() >= 0 && WriteAll(file.number(), bytes) ? std::move(file) : Descriptor(-1);
}

std::string ReadAll(int number) {
  std::string bytes;
  char part[1 << 16];
  for (ssize_t count = 0; (count = read(number, part, sizeof(part))) != 0;) {
    if (count > 0) bytes.append(part, static_cast<size_t>(count));
    if (count < 0 && errno != EINTR) break;
  }
  return bytes;
}

absl::Status RunInProcess(const std::vector<const char*>& arguments) {
  static std::mutex* const mutex = new std::mutex;
  const std::lock_guard<std::mutex> lock(*mutex);
  std::string text;
  llvm::raw_string_ostream errors(text);
  const lld::Result result = lld::lldMain(arguments, llvm::nulls(), errors, {{lld::Gnu, &lld::elf::link}});
  if (result.retCode != 0) return absl::InternalError(absl::StrCat("lld failed: ", text));
  return absl::OkStatus();
}

// Runs ld.lld-22 as a child process, which gets the file descriptors under the same numbers. kInternal if it fails.
absl::Status RunChild(std::vector<const char*> arguments, const std::vector<int>& descriptors) {
  arguments[0] = "ld.lld-22";
  arguments.push_back(nullptr);
  pid_t child = 0;
  int status = 0;
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  const absl::Cleanup destroy = [&] { posix_spawn_file_actions_destroy(&actions); };
  for (const int number : descriptors) posix_spawn_file_actions_adddup2(&actions, number, number);
  if (posix_spawnp(&child, arguments[0], &actions, nullptr, const_cast<char**>(arguments.data()), environ) !=
      0) {
    return absl::InternalError("cannot start ld.lld-22");
  }
  if (waitpid(child, &status, 0) != child || status != 0) return absl::InternalError("ld.lld-22 failed");
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<std::string> LinkShared(absl::Span<const std::string> objects, const LinkOptions& options) {
  Symbols symbols;
  for (const std::string& object : objects) {
    if (absl::Status status = Collect(object, symbols); !status.ok()) return status;
  }
  absl::StatusOr<std::vector<std::string>> libraries = Resolve(symbols, options);
  if (!libraries.ok()) return libraries.status();

  const std::string global =
      options.exports.empty() ? "" : absl::StrCat("global: ", absl::StrJoin(options.exports, "; "), "; ");
  std::vector<Descriptor> files;
  files.push_back(InMemory(absl::StrCat("{ ", global, "local: *; };\n")));
  for (const std::string& object : objects) files.push_back(InMemory(object));
  // Creates a pipe for lld's output. For an output file, lld would create a temporary file, and LLVM keeps and searches
  // the names of all such files as long as the process lives.
  int ends[2] = {-1, -1};
  const bool piped = pipe2(ends, O_CLOEXEC) == 0;
  Descriptor from(ends[0]), into(ends[1]);
  if (!piped || llvm::any_of(files, [](const Descriptor& file) { return file.number() < 0; }))
    return absl::InternalError(absl::StrCat("cannot link in memory: ", strerror(errno)));

  std::vector<std::string> arguments = {"ld.lld",
                                        "-shared",
                                        "--build-id=none",
                                        "--hash-style=gnu",
                                        "--gc-sections",
                                        "-znoexecstack",
                                        "-zrelro",
                                        "--threads=1",
                                        "--no-mmap-output-file",
                                        absl::StrCat("--version-script=", files.front().path()),
                                        "-o",
                                        into.path()};
  if (options.stays_loaded) arguments.push_back("-znodelete");
  if (!options.soname.empty()) arguments.push_back(absl::StrCat("-soname=", options.soname));
  std::vector<int> descriptors{into.number(), files.front().number()};
  for (size_t i = 1; i < files.size(); ++i) {
    arguments.push_back(files[i].path());
    descriptors.push_back(files[i].number());
  }
  if (options.names_libraries) arguments.insert(arguments.end(), libraries->begin(), libraries->end());

  std::vector<const char*> raw;
  for (const std::string& argument : arguments) raw.push_back(argument.c_str());
  std::string bytes;
  std::thread reader([&] { bytes = ReadAll(from.number()); });
  const absl::Status linked = options.in_process ? RunInProcess(raw) : RunChild(raw, descriptors);
  into.Close();
  reader.join();
  if (!linked.ok()) return linked;
  return bytes;
}

}  // namespace kiln
