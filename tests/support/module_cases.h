// What a module makes of a program, for tests: its sketches with their sites, and why it left blocks alone,
// in a golden file; and a shadow run of every sketch under random decisions.
#pragma once

#include <string>

#include "absl/strings/string_view.h"
#include "lang/program/program.h"
#include "lang/target/target.h"

namespace kiln {

// The sketches of a space string, as text.
std::string SketchesText(absl::string_view space, const Program& program, const Target& target = Target());

// Every sketch under `draws` random decisions passes Verify and computes what the program computes.
void ExpectSketchesCompute(absl::string_view space, const Program& program, const Target& target = Target(),
                           int draws = 6);

// Both, the text in tests/golden/modules/NAME.txt.
void ExpectModule(const std::string& name, absl::string_view space, const Program& program,
                  const Target& target = Target());

}  // namespace kiln
