#include "lang/model/plan_calls.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <queue>

#include "absl/algorithm/container.h"
#include "lang/analysis/dataflow.h"
#include "lang/graph/views.h"
#include "lang/program/layout.h"

namespace kiln {
namespace {

bool IsWritten(const Task& task, size_t parameter) {
  return task.program.buffers[task.program.parameters[parameter]].role == Role::kOutput;
}

std::vector<ModelCall> CallsInProgramOrder(const Program& model, const std::vector<Task>& tasks) {
  std::vector<int> position(model.nodes.size());
  int count = 0;
  for (const Id block : Blocks(model)) position[block] = count++;
  std::vector<ModelCall> calls;
  for (size_t t = 0; t < tasks.size(); ++t) {
    for (const Outlined& place : tasks[t].occurrences)
      calls.push_back({.task = static_cast<int>(t), .blocks = place.blocks, .buffers = place.boundary});
  }
  const std::vector<char> prepared = PreparedBuffers(model);
  for (ModelCall& call : calls) {
    call.prepares =
        absl::c_all_of(WrittenBuffers(model, call.blocks.back()), [&](Id b) { return prepared[b] != 0; });
  }
  absl::c_sort(calls, [&](const ModelCall& a, const ModelCall& b) {
    return position[a.blocks.back()] < position[b.blocks.back()];
  });
  return calls;
}

// The copies that no call makes.
std::vector<ModelView> ViewsOf(const Program& model, const std::vector<ModelCall>& calls) {
  std::vector<char> called(model.nodes.size());
  for (const ModelCall& call : calls) {
    for (const Id block : call.blocks) called[block] = 1;
  }
  std::vector<ModelView> views;
  for (const Id block : Blocks(model)) {
    if (called[block] != 0 || !IsView(model, block)) continue;
    if (const auto view = AsView(model, block); view.has_value())
      views.push_back({block, view->part, view->whole, view->offset});
  }
  return views;
}

// By buffer: the view of which it is a part, or null.
std::vector<const ModelView*> ViewByPart(const Program& model, absl::Span<const ModelView> views) {
  std::vector<const ModelView*> by_part(model.buffers.size());
  for (const ModelView& view : views) by_part[view.part] = &view;
  return by_part;
}

// Sorts the calls so that each comes after those that write what it reads. Of the calls that may run, the first
// in program order is next.
absl::StatusOr<std::vector<ModelCall>> Sorted(const Program& model, const std::vector<Task>& tasks,
                                              absl::Span<const ModelView> views,
                                              std::vector<ModelCall> calls) {
  const std::vector<const ModelView*> view_of = ViewByPart(model, views);
  std::vector<std::vector<int>> writers(model.buffers.size()), users(calls.size());
  for (size_t c = 0; c < calls.size(); ++c) {
    for (size_t i = 0; i < calls[c].buffers.size(); ++i) {
      if (!IsWritten(tasks[calls[c].task], i)) continue;
      Id written = calls[c].buffers[i];
      writers[written].push_back(static_cast<int>(c));
      for (; view_of[written] != nullptr; written = view_of[written]->whole)
        writers[view_of[written]->whole].push_back(static_cast<int>(c));
    }
  }
  std::vector<int> missing(calls.size());
  for (size_t c = 0; c < calls.size(); ++c) {
    for (size_t i = 0; i < calls[c].buffers.size(); ++i) {
      if (IsWritten(tasks[calls[c].task], i)) continue;
      for (const int writer : writers[calls[c].buffers[i]]) {
        users[writer].push_back(static_cast<int>(c));
        ++missing[c];
      }
    }
  }
  std::priority_queue<int, std::vector<int>, std::greater<>> ready;
  for (size_t c = 0; c < calls.size(); ++c) {
    if (missing[c] == 0) ready.push(static_cast<int>(c));
  }
  std::vector<ModelCall> sorted;
  while (!ready.empty()) {
    const int next = ready.top();
    ready.pop();
    for (const int user : users[next]) {
      if (--missing[user] == 0) ready.push(user);
    }
    sorted.push_back(std::move(calls[next]));
  }
  if (sorted.size() != calls.size()) return absl::InternalError("tasks of the model depend on each other");
  return sorted;
}

class Areas {
 public:
  Areas(const Program& model, ModelPlan& plan)
      : model_(model), plan_(plan), prepared_(PreparedBuffers(model)) {}

  void Place(absl::Span<const TaskNeeds> needs) {
    plan_.buffers.resize(model_.buffers.size());
    for (size_t i = 0; i < model_.parameters.size(); ++i) {
      const Id id = model_.parameters[i];
      if (model_.buffers[id].role != Role::kConstant)
        plan_.buffers[id] = {Location::Area::kParameter, static_cast<int64_t>(i), BytesOf(model_, id)};
    }
    for (ModelCall& call : plan_.calls) PlaceWeights(call, needs[call.task]);
    plan_.arena_bytes = PlaceLiving(Location::Area::kArena, needs);
    PlaceParts();
    plan_.scratch_bytes = PlaceLiving(Location::Area::kScratch, needs);
  }

 private:
  Location NextWeights(int64_t bytes) {
    const Location location{Location::Area::kWeights, plan_.weights_bytes, bytes};
    plan_.weights_bytes += RoundUp(bytes);
    return location;
  }

  bool IsConstant(Id buffer) const {
    return model_.buffers[buffer].role == Role::kConstant || prepared_[buffer] != 0;
  }

  void PlaceWeights(ModelCall& call, const TaskNeeds& needs) {
    call.read_by_prepare = needs.read_by_prepare;
    call.read_by_prepare.resize(call.buffers.size());
    // Calls of one task on the same constants share what is prepared from them.
    std::vector<Id> constants;
    for (const Id buffer : call.buffers) constants.push_back(IsConstant(buffer) ? buffer : kNone);
    std::vector<Location>& shared = prepared_from_[{call.task, std::move(constants)}];
    if (shared.empty()) {
      for (const int64_t bytes : needs.prepared) shared.push_back(NextWeights(bytes));
    }
    call.prepared = shared;
    for (size_t i = 0; i < call.buffers.size(); ++i) {
      const Id buffer = call.buffers[i];
      const bool is_constant = IsConstant(buffer);
      const bool at_run_time = !call.prepares && !call.read_by_prepare[i];
      if (is_constant && at_run_time && plan_.buffers[buffer].area == Location::Area::kNone)
        plan_.buffers[buffer] = NextWeights(BytesOf(model_, buffer));
    }
  }

  // Places buffers between calls and workspaces in the arena, or what lives in the prepare phase alone in the
  // scratch area. Returns the size of the area.
  int64_t PlaceLiving(Location::Area area, absl::Span<const TaskNeeds> needs) {
    const bool scratch = area == Location::Area::kScratch;
    std::vector<Lifetime> lifetimes;
    std::vector<Location*> locations;
    for (const auto& [buffer, lifetime] : LifetimesOf(model_, plan_)) {
      if ((prepared_[buffer] != 0) != scratch || plan_.buffers[buffer].area == Location::Area::kWeights)
        continue;
      lifetimes.push_back(lifetime);
      locations.push_back(&plan_.buffers[buffer]);
    }
    for (size_t c = 0; c < plan_.calls.size(); ++c) {
      ModelCall& call = plan_.calls[c];
      if (call.prepares != scratch) continue;
      call.workspaces.resize(needs[call.task].workspaces.size());
      for (size_t w = 0; w < call.workspaces.size(); ++w) {
        lifetimes.push_back({needs[call.task].workspaces[w], static_cast<int>(c), static_cast<int>(c)});
        locations.push_back(&call.workspaces[w]);
      }
    }
    const Arena arena = PlaceLifetimes(lifetimes);
    for (size_t i = 0; i < lifetimes.size(); ++i)
      *locations[i] = {area, arena.offsets[i], lifetimes[i].bytes};
    return arena.bytes;
  }

  // Gives parts their places, after the wholes have theirs.
  void PlaceParts() {
    const std::vector<const ModelView*> view_of = ViewByPart(model_, plan_.views);
    for (const ModelView& view : plan_.views) {
      int64_t offset = view.offset;
      Id whole = view.whole;
      for (; view_of[whole] != nullptr; whole = view_of[whole]->whole) offset += view_of[whole]->offset;
      for (const Id id : {view.part, view.whole}) {
        if (id == whole) continue;
        const int64_t within = id == view.part ? offset : offset - view.offset;
        plan_.buffers[id] = {Location::Area::kArena, plan_.buffers[whole].offset + within,
                             BytesOf(model_, id)};
      }
    }
  }

  const Program& model_;
  ModelPlan& plan_;
  const std::vector<char> prepared_;
  std::map<std::pair<int, std::vector<Id>>, std::vector<Location>> prepared_from_;
};

}  // namespace

std::vector<std::pair<Id, Lifetime>> LifetimesOf(const Program& model, const ModelPlan& plan) {
  const std::vector<const ModelView*> view_of = ViewByPart(model, plan.views);
  std::vector<std::pair<Id, Lifetime>> lifetimes;
  std::vector<int> known(model.buffers.size(), -1);
  for (size_t c = 0; c < plan.calls.size(); ++c) {
    for (Id buffer : plan.calls[c].buffers) {
      if (model.buffers[buffer].role != Role::kTemporary) continue;
      while (view_of[buffer] != nullptr) buffer = view_of[buffer]->whole;
      if (known[buffer] < 0) {
        known[buffer] = static_cast<int>(lifetimes.size());
        lifetimes.push_back({buffer, {BytesOf(model, buffer), static_cast<int>(c), static_cast<int>(c)}});
      }
      lifetimes[known[buffer]].second.last = static_cast<int>(c);
    }
  }
  return lifetimes;
}

absl::StatusOr<ModelPlan> PlanCalls(const Program& model, const std::vector<Task>& tasks,
                                    absl::Span<const TaskNeeds> needs) {
  std::vector<ModelCall> in_order = CallsInProgramOrder(model, tasks);
  ModelPlan plan{.views = ViewsOf(model, in_order)};
  auto calls = Sorted(model, tasks, plan.views, std::move(in_order));
  if (!calls.ok()) return calls.status();
  plan.calls = *std::move(calls);
  Areas(model, plan).Place(needs);
  return plan;
}

}  // namespace kiln
