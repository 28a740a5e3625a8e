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
// buffer that is only read becomes an input, or a constant if the caller passes its bytes. A buffer that is written and
// then read elsewhere, or that is an output of the program, becomes an output. Constants with bytes keep them and are
// no parameters. Inputs come before outputs, each in order of first use. Each block of the task is its own origin,
// since schedules of the task are compared with the task.
//
// kFailedPrecondition if a block outside writes a buffer that a block inside writes. The caller ensures that the blocks
// can run together: no path from one of them to another goes through a block outside.
//
// `prepared` (PreparedBuffers, or empty): buffers that are constants for the blocks that only read them. `foreign`:
// calls of foreign functions, which run outside of the task; buffers that they read count as read elsewhere.
absl::StatusOr<Outlined> Outline(const Program& program, absl::Span<const Id> blocks, absl::string_view name,
                                 absl::Span<const char> prepared = {},
                                 absl::Span<const ForeignCall> foreign = {});

// True if the caller passes constants to the program. Such a program is a model that is simplified
// (lang/graph/simplify_model.h).
bool HasGivenConstants(const Program& program);

// Returns, by buffer of an imported program, 1 if it can be computed once when constants are prepared: its writers read
// only constants or such buffers, and at least one that the caller passes. No writer may write more elements than the
// largest buffer that it reads has: a block that only repeats a constant stays where its result is used. Buffers that
// are computed from constants with bytes alone stay in their tasks.
std::vector<char> PreparedBuffers(const Program& program);

// A task and all places where it occurs.
struct Task {
  Program program;
  std::vector<Outlined> occurrences;  // equal to `program` except for names; their own `task` is empty
};

// Cuts an imported program into tasks. Equal tasks (lang/text/hash.h, which includes the bytes of constants) become one
// Task; tasks are in the order of their first occurrence. The rules:
//   1. Each reduction with reuse (HasReuse) starts a group. No two such reductions share a group.
//   2. In program order, a plain store joins the groups of its producers if it permutes nothing and fits: it has as
//      many instances as a store there, or as a reduction without reuse has rows or instances. A reduction without
//      reuse joins groups of plain stores that it fits, and of reductions with as many rows of the same length. So a
//      softmax is one group.
//   3. A group of plain stores whose consumers are all in one other group joins that group: padding,
//      transposes, broadcasts, casts.
//   4. Remaining plain stores join the group of a producer that they fit, even if they permute.
// Blocks that compute prepared buffers share groups with such blocks alone. A step that would make two groups depend on
// each other is skipped. Remaining blocks form their own groups. Groups that only serve the status or compute prepared
// buffers are left out, and so are views (lang/graph/views.h). A program with one group is its own task. Each task has
// its dimensions merged (lang/graph/merge_dims.h). Other tasks are named PROGRAM_BLOCK after their heaviest block.
//
// `foreign` runs between the tasks: a task does not contain blocks both before and after such a call, and a program
// with foreign calls is never its own task.
absl::StatusOr<std::vector<Task>> ExtractTasks(const Program& program, const Policies& policies = {},
                                               const CostTable& costs = {},
                                               absl::Span<const ForeignCall> foreign = {});

// Returns the tasks of ExtractTasks, then those that it leaves out because they need no search: those that compute
// prepared buffers, and those that only serve the status. A whole model needs all of them. Views are in none of them.
absl::StatusOr<std::vector<Task>> ExtractAllTasks(const Program& program, const Policies& policies = {},
                                                  const CostTable& costs = {},
                                                  absl::Span<const ForeignCall> foreign = {});

}  // namespace kiln
