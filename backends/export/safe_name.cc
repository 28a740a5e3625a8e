#include <dlfcn.h>
#include <gnu/lib-names.h>

#include <algorithm>
#include <iterator>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "backends/export/export.h"

namespace kiln {
namespace {

constexpr absl::string_view kKeywords[] = {"alignas",     "alignof",      "and",       "and_eq",
                                           "asm",         "auto",         "bitand",    "bitor",
                                           "bool",        "break",        "case",      "catch",
                                           "char",        "char16_t",     "char32_t",  "char8_t",
                                           "class",       "co_await",     "co_return", "co_yield",
                                           "compl",       "concept",      "const",     "const_cast",
                                           "consteval",   "constexpr",    "constinit", "continue",
                                           "decltype",    "default",      "delete",    "do",
                                           "double",      "dynamic_cast", "else",      "enum",
                                           "explicit",    "export",       "extern",    "false",
                                           "float",       "for",          "friend",    "goto",
                                           "if",          "inline",       "int",       "long",
                                           "main",        "mutable",      "namespace", "new",
                                           "noexcept",    "not",          "not_eq",    "nullptr",
                                           "operator",    "or",           "or_eq",     "private",
                                           "protected",   "public",       "register",  "reinterpret_cast",
                                           "requires",    "restrict",     "return",    "short",
                                           "signed",      "sizeof",       "static",    "static_assert",
                                           "static_cast", "struct",       "switch",    "template",
                                           "this",        "thread_local", "throw",     "true",
                                           "try",         "typedef",      "typeid",    "typename",
                                           "typeof",      "union",        "unsigned",  "using",
                                           "virtual",     "void",         "volatile",  "wchar_t",
                                           "while",       "xor",          "xor_eq"};

bool IsKeyword(const std::string& name) {
  return std::find(std::begin(kKeywords), std::end(kKeywords), name) != std::end(kKeywords);
}

bool IsSystemFunction(const std::string& name) {
  for (const char* library : {LIBC_SO, LIBM_SO}) {
    void* handle = dlopen(library, RTLD_LAZY);
    if (handle == nullptr) continue;
    const bool found = dlsym(handle, name.c_str()) != nullptr;
    dlclose(handle);
    if (found) return true;
  }
  return false;
}

}  // namespace

std::string SafeIdentifier(absl::string_view name) {
  std::string safe;
  for (const char c : name) safe += absl::ascii_isalnum(static_cast<unsigned char>(c)) ? c : '_';
  // Adds a prefix to keywords, names that begin with a digit, and names that begin with "_", which are reserved for
  // compilers.
  if (safe.empty() || safe[0] == '_' || absl::ascii_isdigit(static_cast<unsigned char>(safe[0])) ||
      IsKeyword(safe))
    return absl::StrCat("kiln_", safe.empty() ? "program" : safe);
  return safe;
}

std::string SafeName(absl::string_view name) {
  const std::string safe = SafeIdentifier(name);
  return IsSystemFunction(safe) ? absl::StrCat("kiln_", safe) : safe;
}

}  // namespace kiln
