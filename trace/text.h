// Traces as text: one step per line, every random choice after `->`, so that a mutation is a one-line diff.
//
//   kiln.trace v2
//   choice "multi-level-tiling/matmul/write-reuse" 1 of 3
//   b0 = get-block "matmul"
//   l0, l1, l2 = get-loops b0
//   v0 = sample-perfect-tile l0 n=4 innermost=64 @multi-level-tiling/matmul/i -> 16 4 2 8
//   l3, l4, l5, l6 = split l0 v0
//
// ParseTrace(Print(t)) equals t. In the grammar, spaces separate the tokens of a line. After the first line, lines that
// are empty or begin with '#' are ignored:
//
//   trace     := "kiln.trace v2" newline (choice newline)* (step newline)*
//   choice    := "choice" string picked "of" n                  0 <= picked < n
//   step      := [handle ("," handle)* "="] primitive operand* attribute* ["@" site] ["->" integer+]
//   handle    := ("b" | "l" | "v") number                       block, loop or value; numbered from 0
//                                                               in order of appearance
//   operand   := handle | integer
//   attribute := name "=" datum | string                        a bare string is the first attribute,
//                                                               if that is text
//   datum     := integer | float | string | "[" datum* "]"      of the attribute's declared type; an
//                                                               attribute left out has its default
//   site      := string | characters other than space and '"'   of sampling steps, unique in the trace
//   string    := '"' characters with C escapes '"'
//
// A decision may be left out: replay then has to draw it. The text may start with a byte-order mark. Version
// 1 is read too; its grammar is the same. Older names are accepted in both versions (lang/base/aliases.h).
//
// Errors have the code kInvalidArgument. A message gives the position, then what is wrong there, then what is allowed:
// `trace:4:6: there is no primitive "get-blok"; did you mean get-block?`. The functions share no state and are safe from
// any thread.
#pragma once

#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "trace/trace.h"

namespace kiln {

std::string Print(const Trace& trace);

// Parses a trace. `name` stands before line:column in messages, like a file name.
absl::StatusOr<Trace> ParseTrace(absl::string_view text, absl::string_view name = "trace");

}  // namespace kiln
