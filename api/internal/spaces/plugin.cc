#include "api/internal/spaces/plugin.h"

#include <dlfcn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <optional>
#include <sstream>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_split.h"
#include "backends/workers/forked_child.h"
#include "build_info.h"
#include "lang/patterns/intrinsic.h"
#include "modules/module.h"

extern "C" const char* kiln_version();

namespace kiln::api {
namespace {

namespace fs = std::filesystem;

std::optional<std::string> ReadFile(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  std::stringstream bytes;
  if (!fs::is_regular_file(path) || !in || !(bytes << in.rdbuf())) return std::nullopt;
  return bytes.str();
}

// Returns the path of libkiln.so, or of the program if Kiln is linked statically.
fs::path LibraryPath() {
  Dl_info info{};
  return dladdr(reinterpret_cast<const void*>(&kiln_version), &info) != 0 ? fs::path(info.dli_fname)
                                                                          : fs::path();
}

std::vector<std::string> IncludeFolders() {
  const fs::path installed = LibraryPath().parent_path() / KILN_INSTALL_INCLUDE_DIR;
  if (fs::exists(installed / "modules/module.h")) return {installed.lexically_normal()};
  return absl::StrSplit(KILN_SOURCE_INCLUDE_DIRS, ':');
}

fs::path CacheFolder() {
  const char* cache = std::getenv("XDG_CACHE_HOME");
  if (cache != nullptr && *cache != '\0') return fs::path(cache) / "kiln";
  const char* home = std::getenv("HOME");
  return home != nullptr && *home != '\0' ? fs::path(home) / ".cache/kiln"
                                          : fs::temp_directory_path() / "kiln-cache";
}

uint64_t Fnv(const std::string& text, uint64_t hash) {
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3u;
  return hash;
}

// Returns the cache key of a source: a hash of its text, the stamp of this build, and the size and time of Kiln's
// library file. So another build of Kiln has another key.
std::string KeyOf(const std::string& source) {
  std::error_code error;
  const fs::path library = LibraryPath();
  const std::string all = absl::StrCat(source, "\n", kPluginStamp, "\n", fs::file_size(library, error), " ",
                                       fs::last_write_time(library, error).time_since_epoch().count());
  return absl::StrFormat("%016x%016x", Fnv(all, 0xcbf29ce484222325u), Fnv(all, 0x9e3779b97f4a7c15u));
}

// Runs a command with its standard error redirected to the file `errors`. Returns its exit status: 127 if the program
// cannot be executed, -1 if it did not exit normally.
int Run(const std::vector<std::string>& command, const fs::path& errors) {
  std::vector<char*> argv;
  for (const std::string& word : command) argv.push_back(const_cast<char*>(word.c_str()));
  argv.push_back(nullptr);
  const pid_t parent = getpid(), child = fork();
  if (child == 0) {
    EndWithParent(parent);
    if (std::freopen(errors.c_str(), "w", stderr) != nullptr) execv(argv[0], argv.data());
    _exit(127);
  }
  int status = 0;
  if (child < 0 || waitpid(child, &status, 0) != child || !WIFEXITED(status)) return -1;
  return WEXITSTATUS(status);
}

absl::StatusOr<fs::path> Compile(const std::string& path) {
  const std::optional<std::string> source = ReadFile(path);
  if (!source.has_value()) return absl::NotFoundError(absl::StrCat(path, ": cannot be read"));
  const fs::path folder = CacheFolder();
  const fs::path object = folder / absl::StrCat(fs::path(path).stem().string(), "-", KeyOf(*source), ".so");
  std::error_code error;
  if (fs::exists(object, error)) return object;
  fs::create_directories(folder, error);
  if (error) return absl::FailedPreconditionError(absl::StrCat(folder.string(), ": ", error.message()));

  const std::string scratch = absl::StrCat(object.string(), ".", getpid());
  std::vector<std::string> command{KILN_CXX_COMPILER};
  for (const absl::string_view flag : absl::StrSplit(KILN_CXX_FLAGS, ' ', absl::SkipEmpty())) {
    command.emplace_back(flag);
  }
  for (const std::string& folder : IncludeFolders()) command.push_back(absl::StrCat("-I", folder));
  command.insert(command.end(), {"-shared", path, "-o", scratch});
  const fs::path errors = absl::StrCat(scratch, ".errors");
  const int status = Run(command, errors);
  std::string messages = ReadFile(errors).value_or("");
  fs::remove(errors, error);
  absl::StripTrailingAsciiWhitespace(&messages);
  if (status == 127 || status < 0) {
    return absl::FailedPreconditionError(
        absl::StrCat(path, ": the compiler ", KILN_CXX_COMPILER, " cannot be run. ", messages));
  }
  if (status != 0) {
    fs::remove(scratch, error);
    if (!absl::StrContains(messages, "PLEASE submit a bug report"))
      return absl::InvalidArgumentError(absl::StrCat(path, " does not compile:\n", messages));
    return absl::FailedPreconditionError(absl::StrCat(
        path, ": the compiler ", KILN_CXX_COMPILER,
        " crashed; check the disk, the memory and `ulimit -f`, and run the same command again\n", messages));
  }
  fs::rename(scratch, object, error);
  if (error) return absl::FailedPreconditionError(absl::StrCat(object.string(), ": ", error.message()));
  return object;
}

// Returns OK if the shared object has the stamp of this build of Kiln. Looks for the stamp in the bytes of the file,
// because loading the object would run its code.
absl::Status CheckStamp(const std::string& path) {
  const std::optional<std::string> bytes = ReadFile(path);
  if (!bytes.has_value()) return absl::NotFoundError(absl::StrCat(path, ": cannot be read"));
  const size_t at = bytes->find(KILN_PLUGIN_STAMP_PREFIX);
  if (at == std::string::npos) {
    return absl::InvalidArgumentError(absl::StrCat(
        path, " is not a module of Kiln: it has no stamp. Include \"modules/module.h\" and use KILN_MODULE"));
  }
  const std::string stamp = bytes->substr(at, bytes->find('\0', at) - at);
  if (stamp == kPluginStamp) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat(path, " was built for another Kiln. Build it again, or give its source.\n",
                   "  found:  ", stamp, "\n  wanted: ", kPluginStamp));
}

}  // namespace

absl::StatusOr<std::string> ObjectOfPlugin(const std::string& path) {
  fs::path object = path;
  if (absl::EndsWith(path, ".cc") || absl::EndsWith(path, ".cpp")) {
    absl::StatusOr<fs::path> compiled = Compile(path);
    if (!compiled.ok()) return compiled.status();
    object = *std::move(compiled);
  } else if (!absl::EndsWith(path, ".so")) {
    return absl::InvalidArgumentError(
        absl::StrCat(path, ": a plugin is a C++ file (.cc) or a shared object (.so)"));
  }
  if (const absl::Status stamp = CheckStamp(object); !stamp.ok()) return stamp;
  return fs::absolute(object).string();
}

absl::Status LoadPlugin(const std::string& path, const std::string& object) {
  const size_t primitives = AllPrimitives().size(), intrinsics = AllIntrinsics().size();
  if (dlopen(object.c_str(), RTLD_NOW | RTLD_LOCAL) == nullptr)
    return absl::FailedPreconditionError(absl::StrCat(path, " cannot be loaded: ", dlerror()));
  if (const std::vector<std::string> repeated = RepeatedModuleNames(); !repeated.empty()) {
    return absl::InvalidArgumentError(
        absl::StrCat(path, ": there is a module called ", repeated[0], " already; give yours another name"));
  }
  if (AllPrimitives().size() != primitives || AllIntrinsics().size() != intrinsics) {
    return absl::InvalidArgumentError(absl::StrCat(
        path,
        " declares a primitive or an intrinsic, but a plugin may bring modules only: it runs in a "
        "process of its own, and the one that replays and lowers would not know them. Add them to Kiln "
        "(lang/primitives/, lang/intrinsics/)"));
  }
  return absl::OkStatus();
}

}  // namespace kiln::api
