#include "backends/cpu/link.h"

#include <dlfcn.h>
#include <gnu/lib-names.h>
#include <math.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include <filesystem>
#include <fstream>
#include <mutex>
#include <set>

#include "absl/cleanup/cleanup.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
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

// A library that this process has loaded; its file is what objects are linked against.
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

// The libraries that the undefined symbols need.
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

absl::Status Write(const fs::path& path, const std::string& bytes) {
  std::ofstream file(path, std::ios::binary);
  file << bytes;
  if (!file.flush()) return absl::InternalError(absl::StrCat("cannot write ", path.string()));
  return absl::OkStatus();
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

absl::Status RunChild(std::vector<const char*> arguments) {
  arguments[0] = "ld.lld-22";
  arguments.push_back(nullptr);
  pid_t child = 0;
  int status = 0;
  if (posix_spawnp(&child, arguments[0], nullptr, nullptr, const_cast<char**>(arguments.data()), environ) !=
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

  std::string pattern = (fs::temp_directory_path() / "kiln-link-XXXXXX").string();
  if (mkdtemp(pattern.data()) == nullptr) return absl::InternalError(absl::StrCat("cannot make ", pattern));
  const fs::path directory = pattern;
  const absl::Cleanup remove = [&] {
    std::error_code ignored;
    fs::remove_all(directory, ignored);
  };

  const std::string output = directory / "linked.so";
  const std::string script = directory / "exports";
  std::vector<std::string> arguments = {"ld.lld",
                                        "-shared",
                                        "--build-id=none",
                                        "--hash-style=gnu",
                                        "--gc-sections",
                                        "-znoexecstack",
                                        "-zrelro",
                                        "--threads=1",
                                        "--no-mmap-output-file",
                                        absl::StrCat("--version-script=", script),
                                        "-o",
                                        output};
  if (options.stays_loaded) arguments.push_back("-znodelete");
  if (!options.soname.empty()) arguments.push_back(absl::StrCat("-soname=", options.soname));
  const std::string global =
      options.exports.empty() ? "" : absl::StrCat("global: ", absl::StrJoin(options.exports, "; "), "; ");
  if (absl::Status status = Write(script, absl::StrCat("{ ", global, "local: *; };\n")); !status.ok())
    return status;
  for (size_t i = 0; i < objects.size(); ++i) {
    arguments.push_back(directory / absl::StrCat(i, ".o"));
    if (absl::Status status = Write(arguments.back(), objects[i]); !status.ok()) return status;
  }
  arguments.insert(arguments.end(), libraries->begin(), libraries->end());

  std::vector<const char*> raw;
  for (const std::string& argument : arguments) raw.push_back(argument.c_str());
  const absl::Status linked = options.in_process ? RunInProcess(raw) : RunChild(raw);
  if (!linked.ok()) return linked;
  std::ifstream file(output, std::ios::binary);
  return std::string(std::istreambuf_iterator<char>(file), {});
}

}  // namespace kiln
