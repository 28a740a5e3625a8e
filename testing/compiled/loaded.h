// Compiles MLIR text to a shared object and loads it from memory into this process. Needs the headers of
// MLIR.
#pragma once

#include <dlfcn.h>
#include <sys/mman.h>
#include <unistd.h>

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "backends/codegen/codegen.h"
#include "backends/codegen/context.h"
#include "backends/codegen/link.h"
#include "backends/cpu/passes/outline_parallel.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Parser/Parser.h"

namespace kiln {

class Loaded {
 public:
  static absl::StatusOr<Loaded> FromBytes(const std::string& bytes) {
    const int file = memfd_create("kiln-test", 0);
    if (write(file, bytes.data(), bytes.size()) != static_cast<ssize_t>(bytes.size()))
      return absl::InternalError("memfd");
    // Loads the library. Its file stays open as long as it is loaded, because dlopen takes a path that it knows for the
    // library already loaded. A library with a thread pool stays loaded for ever.
    void* handle = dlopen(PathOf(file).c_str(), RTLD_NOW | RTLD_LOCAL);
    if (handle != nullptr) return Loaded(handle, file);
    close(file);
    return absl::InternalError(dlerror());
  }

  template <typename Function>
  Function* Get(const std::string& name) const {
    return reinterpret_cast<Function*>(dlsym(handle_.get(), name.c_str()));
  }

 private:
  struct Close {
    int file;
    void operator()(void* handle) const {
      dlclose(handle);
      if (dlopen(PathOf(file).c_str(), RTLD_NOW | RTLD_NOLOAD) == nullptr) close(file);
    }
  };
  static std::string PathOf(int file) { return absl::StrCat("/proc/self/fd/", file); }
  Loaded(void* handle, int file) : handle_(handle, Close{file}) {}
  std::unique_ptr<void, Close> handle_;
};

inline Codegen& HostCodegen() {
  static Codegen* const codegen = Codegen::Create(Host()).value().release();
  return *codegen;
}

inline mlir::OwningOpRef<mlir::ModuleOp> Parse(const std::string& text) {
  return mlir::parseSourceString<mlir::ModuleOp>(text,
                                                 mlir::ParserConfig(&Context(), /*verifyAfterParse=*/false));
}

// Parses MLIR text, compiles it for this machine, links it and loads it. Every entry is exported. kInvalidArgument if
// the text does not parse.
inline absl::StatusOr<Loaded> Build(const std::string& text, const CodegenOptions& options,
                                    Codegen& codegen = HostCodegen()) {
  auto module = Parse(text);
  if (!module) return absl::InvalidArgumentError("the test's MLIR does not parse");
  auto object = codegen.Compile(*module, options);
  if (!object.ok()) return object.status();
  LinkOptions link;
  for (const EntryPoint& entry : options.entries) link.exports.push_back(entry.name);
  if (object->takes_threads) link.exports.push_back(ThreadsSymbol(options.entries.front().name));
  auto shared = LinkShared({object->bytes}, link);
  if (!shared.ok()) return shared.status();
  return Loaded::FromBytes(*shared);
}

}  // namespace kiln
