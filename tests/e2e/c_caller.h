// Makes the source of a C program that calls exported functions, from their C headers alone. Arrays are read from files
// and written to files.
//
//   CallerOf({ReadHeader("out/f.h"), ReadHeader("out/g.h")}, {"arg0"})
//
// A function that writes an array is called before the functions that read an array of the same name.
#pragma once

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "backends/runner/data.h"
#include "gtest/gtest.h"
#include "tests/support/run_kiln.h"

namespace kiln {

// An exported function, parsed from its C header: its name, its parameters, and whether it has a function NAME_prepare.
struct ExportedTask {
  std::string name;
  bool has_prepare = false;
  struct Parameter {
    std::string name, role;
    size_t bytes;
  };
  std::vector<Parameter> parameters;
};

inline ExportedTask ReadHeader(const std::string& path) {
  ExportedTask task;
  task.name = std::filesystem::path(path).stem().string();
  const std::string text = ReadText(path);
  task.has_prepare = absl::StrContains(text, absl::StrCat("int ", task.name, "_prepare("));
  for (const absl::string_view line : absl::StrSplit(text, '\n')) {
    // Parses a parameter's line of the header's comment: " *   NAME  ROLE TYPE[EXTENT, EXTENT]".
    std::vector<std::string> words = absl::StrSplit(line, absl::ByAnyChar(" *[],"), absl::SkipEmpty());
    if (words.size() < 3 || !absl::StrContains(line, "[") || !absl::StartsWith(line, " *   ")) continue;
    size_t bytes = DTypeBytes(words[2]);
    for (size_t i = 3; i < words.size() && std::isdigit(words[i][0]); ++i) bytes *= std::stoull(words[i]);
    task.parameters.push_back({words[0], words[1], bytes});
  }
  return task;
}

// Returns C code that reads the bytes of each array in `given` from the file NAME.in, calls the exported functions, and
// writes each array that they write to the file NAME.out.
inline std::string CallerOf(std::vector<ExportedTask> tasks, const std::vector<std::string>& given) {
  std::string includes, arrays, body;
  std::map<std::string, size_t> sizes;
  std::vector<std::string> known = given, written;
  for (const ExportedTask& task : tasks) {
    absl::StrAppend(&includes, "#include \"out/", task.name, ".h\"\n");
    for (const auto& parameter : task.parameters) {
      const auto [at, fresh] = sizes.emplace(parameter.name, parameter.bytes);
      EXPECT_EQ(at->second, parameter.bytes) << parameter.name << " of " << task.name;
      if (fresh)
        absl::StrAppend(&arrays, "static _Alignas(64) char ", parameter.name, "[", parameter.bytes, "];\n");
    }
  }
  for (const std::string& name : given)
    if (sizes.contains(name)) absl::StrAppend(&body, "  IN(", name, ");\n");
  while (!tasks.empty()) {
    const auto ready = std::find_if(tasks.begin(), tasks.end(), [&](const ExportedTask& task) {
      return std::all_of(task.parameters.begin(), task.parameters.end(), [&](const auto& parameter) {
        return parameter.role == "output" || parameter.role == "prepared" ||
               std::find(known.begin(), known.end(), parameter.name) != known.end();
      });
    });
    if (ready == tasks.end()) {
      ADD_FAILURE() << "no task has what it reads: the first is " << tasks[0].name;
      return "";
    }
    const std::string call = absl::StrCat(
        "((void*)",
        absl::StrJoin(ready->parameters, ", (void*)",
                      [](std::string* out, const auto& parameter) { absl::StrAppend(out, parameter.name); }),
        ") != 0) return 1;\n");
    if (ready->has_prepare) absl::StrAppend(&body, "  if (", ready->name, "_prepare", call);
    absl::StrAppend(&body, "  if (", ready->name, call);
    for (const auto& parameter : ready->parameters) {
      if (parameter.role != "output") continue;
      known.push_back(parameter.name);
      written.push_back(parameter.name);
    }
    tasks.erase(ready);
  }
  for (const std::string& name : written) absl::StrAppend(&body, "  OUT(", name, ");\n");
  return absl::StrCat("#include <stdio.h>\n", includes, R"(
static int pass(const char* path, const char* mode, char* array, size_t bytes) {
  FILE* file = fopen(path, mode);
  if (!file) return 0;
  size_t done = mode[0] == 'r' ? fread(array, 1, bytes, file) : fwrite(array, 1, bytes, file);
  return fclose(file) == 0 && done == bytes;
}
#define IN(name) if (!pass(#name ".in", "rb", name, sizeof name)) return 2
#define OUT(name) if (!pass(#name ".out", "wb", name, sizeof name)) return 3
)",
                      arrays, "int main(void) {\n", body, "  return 0;\n}\n");
}

}  // namespace kiln
