// Shows the sketches that a space makes of a program, and checks them, for tests of modules.
//
//   EXPECT_NE(SketchesText("each-block(my-module)", program).find("vectorize"), std::string::npos);
//   ExpectSketchesCompute("each-block(my-module)", program);
//
// Where the whole text is expected, write it into a file: testing/case_files.h.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "absl/strings/string_view.h"
#include "lang/program/program.h"
#include "lang/target/target.h"

namespace kiln {

// Selects the sketches to show by their structural choices, and gives decisions to their sites. Choices and sites are
// named by the last part of their name or by all of it: "S1" or "multi-level-tiling/matmul/S1".
struct ShownSketches {
  std::vector<std::pair<std::string, std::string>> choices = {};             // {"write-reuse", "registers"}
  std::vector<std::pair<std::string, std::vector<int64_t>>> decisions = {};  // {"S1", {1, 2, 2, 16}}
};

// Returns each sketch as text, under a line of its choices. Without decisions: its trace, and its sites with the number
// of decisions of each. With decisions: its trace under them and the scheduled program. The end says why sequences of
// choices do not apply and why modules declined blocks. Returns "error: ..." if the space does not parse or cannot be
// enumerated, or if no sketch is selected.
std::string SketchesText(absl::string_view space, const Program& program, const Target& target = Target(),
                         const ShownSketches& shown = {});

// Expects that every sketch, under `draws` random decisions, passes Verify and computes what the program computes: the
// same terms, with reductions in any order (lang/reference/symbolic.h). Draws that do not apply (kFailedPrecondition)
// are skipped, but at least one draw of a sketch must apply. Fails the test on any other error and for a space that does
// not parse. A space without sketches passes: SketchesText says why there are none.
void ExpectSketchesCompute(absl::string_view space, const Program& program, const Target& target = Target(),
                           int draws = 6);

}  // namespace kiln
