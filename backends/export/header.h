// The C header of an exported program.
#pragma once

#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "backends/builder/builder.h"
#include "lang/program/program.h"

namespace kiln {

struct HeaderParam {
  std::string name;  // a C identifier, unique
  std::string type;  // "const float*"
  std::string note;  // "input f32[512, 512]", "input i8[64] (unsigned)" (backends/export/signs.h)
};

// Names of the parameters of NAME, each a C identifier and unique: the program's, then `prepared` more.
std::vector<std::string> ParameterNames(const Program& program, size_t prepared = 0);

// "input", "output", "constant" or "scalar"
absl::string_view RoleWord(Role role);

// The parameters of NAME: the program's, then what prepare writes.
std::vector<HeaderParam> HeaderParams(const Program& program, const BuildResult& built);

// For the comment `made_for`, the machine, and `checked`, lines of how it was compared with the original.
std::string HeaderText(const Program& program, const BuildResult& built, const std::string& name,
                       const std::string& made_for, const std::string& checked = "");

}  // namespace kiln
