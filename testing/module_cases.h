// What a space makes of a program, for tests of modules.
//
//   EXPECT_NE(SketchesText("each-block(my-module)", program).find("vectorize"), std::string::npos);
//   ExpectSketchesCompute("each-block(my-module)", program);
//
// A space string that does not parse and a program that the space cannot enumerate end the test program with a
// message.
#pragma once

#include <string>

#include "absl/strings/string_view.h"
#include "lang/program/program.h"
#include "lang/target/target.h"

namespace kiln {

// The sketches of a space as text: each with its sites and the number of decisions of each site; then the sequences
// of choices that do not apply, and why modules declined blocks.
std::string SketchesText(absl::string_view space, const Program& program, const Target& target = Target());

// Every sketch, under `draws` random decisions, passes Verify and computes what the program computes.
void ExpectSketchesCompute(absl::string_view space, const Program& program, const Target& target = Target(),
                           int draws = 6);

}  // namespace kiln
