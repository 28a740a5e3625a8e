// Cuts a program into tasks. A task is a part of a program as a program of its own.
//
// Pure functions, safe from any thread.
#pragma once

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "lang/program/foreign_call.h"
#include "lang/program/program.h"
#include "lang/target/cost_table.h"
#include "lang/target/policies.h"

namespace kiln {

// A body that is a tree of at most this many nodes is copied without sharing subexpressions. Databases find a
// workload by its text, and the stored texts repeat the subexpressions of such bodies.
inline constexpr int64_t kWrittenOut = 1024;

// A task, with the blocks and buffers that it corresponds to in the program that it was cut from.
struct Outlined {
  Program task;
  std::vector<Id> blocks;    // in that program, in program order
  std::vector<Id> boundary;  // the program's buffer behind each parameter of the task
};

// Makes a task of the nests (children of the root) that contain these blocks, and of the buffers that they use. A
// buffer that is only read becomes an input, but scalars and constants stay what they are. A buffer that is written and
// then read elsewhere, or that is an output of the program, becomes an output. Constants with bytes keep them and are
// no parameters. A status stays a status. Inputs come before outputs, each in order of first use. Each block of the
// task is its own origin, since schedules of the task are compared with the task.
//
// kFailedPrecondition if a block outside writes a buffer that a block inside writes. The errors of Verify if the task
// is no valid program. The caller ensures that the blocks can run together: no path from one of them to another goes
// through a block outside.
//
// `prepared` (PreparedBuffers, or empty): buffers that are constants for the blocks that only read them. `foreign`:
// calls of foreign functions, which run outside of the task; buffers that they read count as read elsewhere.
absl::StatusOr<Outlined> Outline(const Program& program, absl::Span<const Id> blocks, absl::string_view name,
                                 absl::Span<const char> prepared = {},
                                 absl::Span<const ForeignCall> foreign = {});

// True if the caller passes constants to the program. Such a program is a model that is simplified
// (lang/graph/simplify_model.h).
bool HasGivenConstants(const Program& program);

// Returns, by buffer of an imported program, 1 if it is a temporary that can be computed once when constants are
// prepared, else 0: its writers read only constants or such buffers, and at least one that the caller passes. No writer
// may write more elements than the largest buffer that it reads has: a block that only repeats a constant stays where
// its result is used. Buffers that are computed from constants with bytes alone stay in their tasks.
std::vector<char> PreparedBuffers(const Program& program);

// A task and all places where it occurs.
struct Task {
  Program program;
  std::vector<Outlined> occurrences;  // equal to `program` except for names; their own `task` is empty
};

// Cuts an imported program into tasks. Equal tasks (lang/text/hash.h, which includes the bytes of constants) become one
// Task; tasks are in the order of their first occurrence.
//
// The nests are partitioned into groups, and each group becomes a task. At first each nest is a group. Nests that write
// the same buffer are merged. Then these rules merge groups, in this order:
//   1. In program order, a plain store (no reduction) joins the groups of its producers if it reads in the order in
//      which it writes, and if its number of instances equals that of a store in the group, the number of rows (spatial
//      instances) of a reduction in it, or the number of all instances of a reduction without reuse in it. In the same
//      pass, a reduction without reuse joins a group of plain stores in which one has as many instances, and a group of
//      reductions without reuse that have as many rows and instances. So a softmax is one group.
//   2. A group of plain stores whose consumers are all in one other group joins that group: padding, transposes,
//      broadcasts, casts.
//   3. A remaining plain store joins its producers as in rule 1, in whatever order it reads.
// Limits: by these rules, a reduction with reuse (HasReuse) joins plain stores alone. Blocks that compute prepared
// buffers (PreparedBuffers) do not join other blocks. A step that would make two groups depend on each other is
// skipped.
//
// No task is made of a group whose blocks all compute prepared buffers or serve only the status (buffers of
// Role::kStatus), nor of blocks that MarkViews marked as copies without work (lang/graph/views.h). If at most one group
// is left, the whole program is the task. Otherwise a task is named PROGRAM_BLOCK after its block with the most
// operations, a reduction with reuse first. If the name is taken, _2, _3, .. follow. Each task has its dimensions
// merged (lang/graph/merge_dims.h). Before that, a task that is a part of the program loses its dimensions of one
// element if HasGivenConstants is true of the program.
//
// `foreign`: calls of foreign functions, which run between the tasks. A task does not contain blocks both before and
// after such a call, and a program with foreign calls is never its own task.
absl::StatusOr<std::vector<Task>> ExtractTasks(const Program& program, const Policies& policies = {},
                                               const CostTable& costs = {},
                                               absl::Span<const ForeignCall> foreign = {});

// Returns the tasks of ExtractTasks, then those that it leaves out because they need no search: those that compute
// prepared buffers, and those that only serve the status. A whole model needs all of them. Views are in none of them.
// If the whole program is the task of ExtractTasks, there are no others.
absl::StatusOr<std::vector<Task>> ExtractAllTasks(const Program& program, const Policies& policies = {},
                                                  const CostTable& costs = {},
                                                  absl::Span<const ForeignCall> foreign = {});

}  // namespace kiln
