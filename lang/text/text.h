// Programs as text. Parsing a printed program gives an equal program (lang/text/hash.h). The text has no
// dead loops, and its bindings are resolved.
//
//   kiln.program v1
//   program matmul
//   parameters A, B, C
//   buffer A: f32[64, 32] input
//   buffer B: f32[32, 16] input
//   buffer C: f32[64, 16] output
//
//   for i_0 < 4 parallel {
//     for i_1 < 16 {
//       for j < 16 {
//         for k < 32 {
//           block matmul {
//             spatial i < 64 = i_0*16 + i_1
//             spatial j < 16 = j
//             reduction k < 32 = k
//             C[i, j] sum= A[i, k]*B[k, j]
//             from compute 4
//   ...
//
// Grammar. White space separates tokens, and # starts a comment to the end of the line.
//
//   text      = "kiln.program" "v1" "program" name ["parameters" name {"," name}] {buffer} {monoid} {node}
//   buffer    = "buffer" name ":" dtype "[" [extent {"," extent}] "]" role [storage "/" owner] [layout]
//               ["data" "\"" hex "\""]
//   role      = "input" | "output" | "constant" | "scalar" | "temporary" | "status"
//   owner     = "thread" | "warp" | "warpgroup" | "block" | "cluster" | "grid"
//   layout    = "layout" marks ["kinds" "(" kind {"," kind} ")"] ["swizzle" "(" int "," int "," int ")"]
//               ["padding" expr]                                   over d0, d1, ...: the logical indices
//   kind      = "address" | "register" | "lane" | "warp"
//   monoid    = "monoid" name ["idempotent"] ["exact"] "identity" exprs "combine" exprs
//                                                                  over l0, l1, ..., r0, r1, ...
//   node      = ["prepare"] (loop | block)
//   loop      = "for" name "<" extent [loop-kind [pipeline]] ["tainted"] notes "{" {node} "}"
//   pipeline  = "(" stage {"," stage} [";" ring {"," ring}] ")"
//   stage     = int int ["producer"]                               of each child: its stage and its position
//   ring      = name int ("sync" | "async" | "bulk")               copies of a buffer, and how it travels
//   block     = "block" name ["intrinsic" name] notes
//               "{" {guard} {iter} ["domain" marks] {value} [body] ["from" origin] {node} "}"
//   notes     = {"@" name "=" int}
//   guard     = "let" name "=" sum "<" extent                      over the loops around, the iters of the
//                                                                  enclosing block, guards above
//   iter      = ("spatial" | "reduction") name "<" extent "=" sum ["where" name {"," name}]
//   value     = "value" name "=" expr                              for later expressions of this block
//   body      = access {"," access} ("=" | ["accumulate"] monoid-name "=") exprs ["initial" exprs]
//   access    = name "[" [sum {"," sum}] "]"
//   origin    = ("compute" | "init" | "partial" | "padding") int [marks] | "copy" name [marks]
//   marks     = "(" [sum "<" extent {"," sum "<" extent}] ")"
//   extent    = int | name "{" int ".." int "/" int "}"            a parameter: minimum, maximum, divisor
//   sum       = ["-"] term {("+" | "-") term};  term = int | name ["/" int] ["%" int] ["*" int]
//   exprs     = expr | "(" expr "," expr {"," expr} ")"            one, or as many as there are results
//   expr      = expr ("+" | "-" | "*" | "/") expr                  with the usual precedence, of one dtype
//             | "(" expr ")" | access | the name of a value
//             | name "[" "{" expr "}" {"," "{" expr "}"} "]"       a gather
//             | dtype "(" number ")" | dtype [".unsigned" | ".bits"] "(" expr ")"
//             | "index" "(" sum ")" | "index.const" "(" int ")" | "index.cast" "(" expr ")"
//             | "within" "(" marks "," expr "," expr ")" | op "(" expr {"," expr} ")"
//             | "l" int | "r" int                                  in a monoid
//   number    = a decimal integer or float | "inf" | "-inf" | "nan" | "bits" int
//   name      = a letter or "_", then letters, digits, "_" and "."; any other, and keywords: in double
//               quotes, \ before " and \
//
// If a name is taken on the path from the root, it gets a suffix. "let" names a value that may lie outside
// its extent. An instance exists if the values that it uses (those of "where" too) and its iters lie within
// their extents. All functions are pure.
#pragma once

#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "lang/program/program.h"

namespace kiln {

// Prints a program, which must pass Verify.
std::string ToString(const Program& program);

// Parses a program. If the grammar rejects the text, returns kInvalidArgument such as "3:14: found "x", wanted an
// extent". If Verify rejects the program, returns kInvalidArgument with the position of the wrong block (or of the
// beginning of the text) and Verify's message.
absl::StatusOr<Program> ParseProgram(absl::string_view text);

}  // namespace kiln
