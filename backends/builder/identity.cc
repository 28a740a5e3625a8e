#include "backends/builder/identity.h"

#include <dlfcn.h>
#include <sys/stat.h>

#include "absl/strings/str_cat.h"
#include "backends/codegen/version.h"
#include "build_info.h"
#include "lang/text/serialize.h"

namespace kiln {

std::string BuilderIdentity() {
  std::string identity = absl::StrCat(KILN_VERSION, " ", LlvmVersion());
  Dl_info library = {};
  dladdr(reinterpret_cast<const void*>(&Deserialize), &library);
  for (const char* file : {"/proc/self/exe", library.dli_fname}) {
    struct stat info = {};
    if (file != nullptr && stat(file, &info) == 0)
      absl::StrAppend(&identity, " ", info.st_size, " ", info.st_mtim.tv_sec, ".", info.st_mtim.tv_nsec);
  }
  return identity;
}

}  // namespace kiln
