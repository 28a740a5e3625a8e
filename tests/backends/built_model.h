// For tests: compiles whole models, loads them into this process and runs them in guarded memory. Needs the headers of
// MLIR.
#pragma once

#include <cstring>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "backends/model/compile_model.h"
#include "lang/graph/outline.h"
#include "lang/program/layout.h"
#include "testing/compiled/loaded.h"
#include "testing/compiled/run_program.h"
#include "validator/model/check_model_plan.h"

namespace kiln {

// A compiled model: its program, the plan of its calls, the code of its tasks, and the loaded library, whose function
// is "net".
struct BuiltModel {
  Program model;
  ModelPlan plan;
  TaskObjects code;
  std::string shared_object;
  Loaded library;
};

// Compiles and loads the model, and checks the plan of its calls. `schedule` may return a scheduled version of the
// program of a task.
inline absl::StatusOr<BuiltModel> BuildModel(
    Program model, BuilderPool& builders,
    absl::FunctionRef<Program(const Program&)> schedule = [](const Program& task) { return task; }) {
  const auto tasks = ExtractAllTasks(model);
  if (!tasks.ok()) return tasks.status();
  std::vector<ScheduledTask> scheduled;
  for (const Task& task : *tasks) scheduled.push_back({.program = schedule(task.program)});
  auto code = CompileTasks(scheduled, "net", builders);
  if (!code.ok()) return code.status();
  auto plan = PlanCalls(model, *tasks, code->needs);
  if (!plan.ok()) return plan.status();
  if (auto checked = CheckModelPlan(model, *plan); !checked.ok()) return checked.status();
  auto library = LinkModel(model, *plan, *code, "net", builders);
  if (!library.ok()) return library.status();
  auto loaded = Loaded::FromBytes(library->shared_object);
  if (!loaded.ok()) return loaded.status();
  return BuiltModel{std::move(model), *std::move(plan), *std::move(code), std::move(library->shared_object),
                    *std::move(loaded)};
}

// Memory of `bytes` bytes, filled with bytes that are NaN as floats, with a guard of 256 bytes behind. IsWhole tells
// whether the guard is unchanged.
class Guarded {
 public:
  explicit Guarded(int64_t bytes) : bytes_(bytes), memory_(bytes + kGuard, '\xff') {}
  char* data() { return &memory_[0]; }
  bool IsWhole() { return std::string(data() + bytes_, kGuard) == std::string(kGuard, '\xff'); }
  std::string Text() { return {data(), static_cast<size_t>(bytes_)}; }

 private:
  static constexpr int64_t kGuard = 256;
  int64_t bytes_;
  Array<char> memory_;
};

// Guarded arrays for a call of a built model: each parameter, with inputs and constants filled in, the weights, and the
// arena. Runs the model on these arrays.
class ModelMemory {
 public:
  ModelMemory(const BuiltModel& built, const std::vector<std::string>& inputs) : built_(built) {
    const Program& p = built.model;
    size_t next = 0;
    for (const Id id : p.parameters) {
      Add(BytesOf(p, id));
      if (IsGiven(p.buffers[id].role))
        std::memcpy(table_.back(), inputs[next].data(), inputs[next].size()), ++next;
    }
    Add(built.plan.weights_bytes);
    Add(built.plan.arena_bytes);
  }

  int Prepare() { return Call("net_prepare_by_table"); }
  int Run() { return Call("net_by_table"); }
  bool IsWhole() {
    for (const std::unique_ptr<Guarded>& array : memory_) {
      if (!array->IsWhole()) return false;
    }
    return true;
  }
  std::vector<std::string> Outputs() {
    std::vector<std::string> outputs;
    for (size_t n = 0; n < built_.model.parameters.size(); ++n) {
      if (built_.model.buffers[built_.model.parameters[n]].role == Role::kOutput)
        outputs.push_back(memory_[n]->Text());
    }
    return outputs;
  }
  void* const* table() const { return table_.data(); }

 private:
  void Add(int64_t bytes) {
    memory_.push_back(std::make_unique<Guarded>(bytes));
    table_.push_back(memory_.back()->data());
  }
  int Call(const std::string& function) {
    return built_.library.Get<int(void* const*)>(function)(table_.data());
  }

  const BuiltModel& built_;
  std::vector<std::unique_ptr<Guarded>> memory_;
  std::vector<void*> table_;
};

}  // namespace kiln
