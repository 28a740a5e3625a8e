// Writes the C header of an exported program: a comment that describes the parameters, and the functions NAME,
// NAME_prepare and NAME_set_threads, as far as the program has them.
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

// Returns the names of the exported function's parameters, each a unique C identifier: those of the program, then
// `prepared` further ones for arrays that NAME_prepare writes.
std::vector<std::string> ParameterNames(const Program& program, size_t prepared = 0);

// Returns the role as a word: "input", "output", "constant" or "scalar"; "temporary" for all other roles.
absl::string_view RoleWord(Role role);

// Returns the parameters of the exported function NAME: those of the program, then the arrays that NAME_prepare writes.
std::vector<HeaderParam> HeaderParams(const Program& program, const BuildResult& built);

// Returns the declaration `int FUNCTION(PARAMETER, ...);` with one parameter per line and a newline at its end. Without
// parameters, the list is `void`.
std::string Prototype(const std::string& function, const std::vector<std::string>& parameters);

// Returns the text of the C header of an exported program. For its comment, `made_for` names the machine, and `checked`
// has lines about the comparison with the original.
std::string HeaderText(const Program& program, const BuildResult& built, const std::string& name,
                       const std::string& made_for, const std::string& checked = "");

}  // namespace kiln
