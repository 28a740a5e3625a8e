// Outlining: a part of a program as a program of its own (a task), and the tasks of a model.
//
// Pure functions, safe from any thread.
#pragma once

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "lang/program/program.h"

namespace kiln {

// A task, and where it stands in the program that it was cut from.
struct Outlined {
  Program task;
  std::vector<Id> blocks;    // of the program, in program order
  std::vector<Id> boundary;  // the program's buffer behind each parameter of the task
};

// The nests (children of the root) that hold these blocks, with the buffers that they use. Buffers that cross
// the border become parameters: what is only read, an input (or a constant, where the caller passes its
// bytes); what is written and either read elsewhere or an output of the program, an output. Constants with
// bytes keep them, and are no parameters. Parameters stand in the order of first use, inputs before outputs.
// Each block of the task is its own origin: the task is what its schedules are compared with.
//
// kFailedPrecondition: a block outside writes what one inside writes. The caller sees to it that the blocks
// can run together: no block outside lies on a path from one of them to another.
absl::StatusOr<Outlined> Outline(const Program& program, absl::Span<const Id> blocks, absl::string_view name);

// A task with all the places where it occurs.
struct Task {
  Program program;
  std::vector<Outlined> occurrences;  // their programs are equal to `program` but for names; left empty here
};

// Cuts a program, as it was imported, into tasks; equal ones (lang/text/hash.h: the bytes of their constants too)
// are one Task, in the order of their first occurrences. The rule:
//   1. Each reduction whose operands are reused (HasReuse) starts a group that no other reduction joins.
//   2. In program order, a plain store joins the groups of its producers that it fits: its instances are as
//      many as those of a store there (or, for a reduction without reuse, as its rows or all its instances),
//      and it permutes nothing. A reduction without reuse joins groups of plain stores that it fits, and of
//      reductions with as many rows of the same length. So a softmax is one group.
//   3. Groups of plain stores that have consumers in one other group only join it: padding, transposes,
//      broadcasts, casts.
//   4. Those that are left join the group of a producer that they fit, even if they permute.
// A step that would make groups wait for each other is not taken. What is left stands alone.
// Blocks that only serve the status are in no group. A program that is one group is its own task. Each task
// is in its plainest form (lang/graph/collapse.h). Others are called PROGRAM_BLOCK after their heaviest block.
absl::StatusOr<std::vector<Task>> ExtractTasks(const Program& program);

}  // namespace kiln
