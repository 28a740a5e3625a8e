// For tests: builds the library of a whole model from MLIR text, as `kiln build` does but without schedules, and runs
// it.
#pragma once

#include <cstring>
#include <deque>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "backends/import/import.h"
#include "backends/import/join_foreign.h"
#include "backends/model/compile_model.h"
#include "lang/graph/outline.h"
#include "lang/program/layout.h"
#include "testing/compiled/run_program.h"
#include "tests/backends/workers.h"
#include "tests/support/values.h"
#include "validator/model/check_model_plan.h"

namespace kiln {

inline BuilderPool& WholeBuilders() {
  static auto* const pool = StartBuilders(2).release();
  return *pool;
}

struct Whole {
  Program model;
  std::vector<ForeignCall> foreign;
  ModelPlan plan;
  std::vector<std::string> objects;
  Loaded library;
};

// Imports the MLIR text, compiles its tasks and foreign calls, and links and loads them as a library with the function
// `net_by_table`. Returns an error if an operation can neither be imported nor be a foreign call.
inline absl::StatusOr<Whole> BuildWhole(absl::string_view text) {
  ImportOptions options;
  options.allow_boundaries = true;
  auto imported = ImportLinalg(text, "net.mlir", options);
  if (!imported.ok()) return imported.status();
  std::vector<ForeignTask> codes;
  for (const Boundary& b : imported->boundaries) {
    if (b.code.empty())
      return absl::InvalidArgumentError(
          absl::StrCat(b.location, ": ", b.op, " (", b.reason, ")\n  hint: ", b.hint));
    codes.push_back({b.op, b.code});
  }
  std::vector<ForeignCall> foreign = JoinForeign(*imported, imported->program);
  const auto tasks = ExtractAllTasks(imported->program, {}, {}, foreign);
  if (!tasks.ok()) return tasks.status();
  std::vector<ScheduledTask> scheduled;
  for (const Task& task : *tasks) scheduled.push_back({.program = task.program});
  auto code = CompileTasks(scheduled, "net", WholeBuilders(), {}, codes);
  if (!code.ok()) return code.status();
  auto plan = PlanCalls(imported->program, *tasks, code->needs, foreign);
  if (!plan.ok()) return plan.status();
  if (auto checked = CheckModelPlan(imported->program, *plan, foreign); !checked.ok())
    return checked.status();
  auto library = LinkModel(imported->program, *plan, *code, "net", WholeBuilders());
  if (!library.ok()) return library.status();
  auto loaded = Loaded::FromBytes(library->shared_object);
  if (!loaded.ok()) return loaded.status();
  return Whole{std::move(imported->program), std::move(foreign), *std::move(plan), std::move(code->objects),
               *std::move(loaded)};
}

struct WholeResult {
  int status = 0;
  std::vector<std::string> outputs;  // bytes
};

// Prepares and runs a model with `inputs`, the bytes of its inputs and constants in order. Returns the status and the
// outputs. All other memory is filled with 0xFF before.
inline WholeResult RunWhole(const Whole& whole, const std::vector<std::string>& inputs) {
  const Program& p = whole.model;
  std::deque<Array<char>> memory;
  std::vector<void*> table;
  const auto add = [&](int64_t bytes) {
    memory.emplace_back(static_cast<size_t>(std::max<int64_t>(bytes, 1)), '\xff');
    table.push_back(memory.back().data());
  };
  size_t next = 0;
  for (const Id id : p.parameters) {
    add(BytesOf(p, id));
    if (IsGiven(p.buffers[id].role)) {
      std::memcpy(table.back(), inputs[next].data(), inputs[next].size());
      ++next;
    }
  }
  add(whole.plan.weights_bytes);
  add(whole.plan.arena_bytes);
  using ByTable = int(void* const*);
  EXPECT_EQ(whole.library.Get<ByTable>("net_prepare_by_table")(table.data()), 0);
  WholeResult result{.status = whole.library.Get<ByTable>("net_by_table")(table.data()), .outputs = {}};
  for (size_t i = 0; i < p.parameters.size(); ++i) {
    if (p.buffers[p.parameters[i]].role == Role::kOutput)
      result.outputs.emplace_back(memory[i].data(), static_cast<size_t>(BytesOf(p, p.parameters[i])));
  }
  return result;
}

}  // namespace kiln
