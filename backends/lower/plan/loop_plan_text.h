// Prints loop plans as text, to follow the text of the decomposed program (lang/text/text.h). Loops, blocks and
// buffers are named as there, with @N after the name of the Nth loop or block of a name (plan_names.h).
// backends/lower/text/loop_plan_parse.h parses both texts.
//
//   kiln.plan v1
//   condition c0: 0 <= h + i - 1 < 7
//   buffer acc: 224 elements, alloca
//   entry conv {
//     for h 7 threads {
//       for i 3 {
//         if c0 {
//           for w 7 unrolled {
//             for f 32 lanes 8 {
//               conv combine
//   ...
//
// Grammar. White space separates tokens. Names and sums are those of a program's text.
//
//   plan       = "kiln.plan" "v1" {mark} {condition} {buffer} {entry}
//   mark       = "mark" name ":" sum                              a sum that others divide
//   condition  = "condition" "c"N ":" "0" "<=" sum "<" int        all that the program has, in any order
//   buffer     = "buffer" name ":" int "elements" "," place ["per" "iteration"]
//                ["," "in" "the" "memory" "of" name]
//   place      = "parameter" | "global" | "alloca" | "heap" | ("shared" | "workspace") "at" int
//   entry      = "entry" name ["prepare"] nodes
//   nodes      = "{" {node} "}"
//   node       = "for" loop ("one" | range run [attributes]) nodes
//              | "if" conditions nodes ["else" ["decided"] nodes]
//              | "switch" condition "{" "all" nodes {int nodes} "}"
//              | "first" "over" {loop} nodes nodes
//              | block ["start" | "combine"] ["across"] ["fast"] ["asks" conditions] ["stores" {store}]
//              | "call" intrinsic loop ["asks" conditions] [nodes]
//              | "prefetch" ["write"] buffer "[" sum "]" ["over" {loop ("one" | int)}]
//                "lines" int "locality" int
//              | "flush" int | "fence" | "sync" owner ["groups" int] | "commit"
//   range      = int | int ".." int                               0 .. int - 1, or first .. end - 1
//   run        = | "threads" | "unrolled" | "lanes" int | "axis" axis
//   axis       = "block-x" | "block-y" | "block-z" | "thread-x" | "thread-y" | "thread-z"
//   attributes = ["steps" int] ["trim" conditions] ["decided" conditions] ["once"] ["ahead"]
//                ["role" int]
//   store      = "plain" | "stream" | "transposed" int | "async"
//   conditions = "c"N {"c"N}
#pragma once

#include <string>

#include "backends/lower/plan/loop_plan.h"

namespace kiln::plan {

std::string ToString(const Program& program, const LoopPlan& plan);

}  // namespace kiln::plan
