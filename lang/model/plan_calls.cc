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

// Returns the copies that no call needs to make, because their source can lie where the copy would be: the blocks that
// MarkViews has marked (lang/graph/views.h) and that belong to no task.
std::vector<ModelView> ViewsOf(const Program& model, const std::vector<Task>& tasks) {
  std::vector<char> called(model.nodes.size());
  for (const Task& task : tasks) {
    for (const Outlined& place : task.occurrences) {
      for (const Id block : place.blocks) called[block] = 1;
    }
  }
  std::vector<ModelView> views;
  for (const Id block : Blocks(model)) {
    if (called[block] != 0 || !IsView(model, block)) continue;
    if (const auto view = AsView(model, block); view.has_value())
      views.push_back({block, view->part, view->whole, view->offset, view->slice});
  }
  return views;
}

// Returns, by buffer, the view that places the buffer in another one; null if there is none.
std::vector<const ModelView*> ViewByPart(const Program& model, absl::Span<const ModelView> views) {
  std::vector<const ModelView*> by_part(model.buffers.size());
  for (const ModelView& view : views) by_part[view.part] = &view;
  return by_part;
}

// Makes the list of a model's calls, and sorts it into an order in which they can run.
class Order {
 public:
  Order(const Program& model, const std::vector<Task>& tasks, absl::Span<const ForeignCall> foreign)
      : model_(model), tasks_(tasks), position_(model.nodes.size()) {
    int count = 0;
    for (const Id block : Blocks(model)) position_[block] = count++;
    AddTasks();
    for (size_t f = 0; f < foreign.size(); ++f) AddForeign(foreign[f], static_cast<int>(f));
    absl::c_sort(items_, [](const Item& a, const Item& b) {
      return std::pair(a.position, a.call.foreign) < std::pair(b.position, b.call.foreign);
    });
  }

  // Returns the calls, sorted so that each comes after those that write what it reads. Among the calls that may run
  // next, the first in program order comes first. kInternal if calls depend on each other in a cycle.
  absl::StatusOr<std::vector<ModelCall>> Sorted(absl::Span<const ModelView> views) {
    const std::vector<const ModelView*> view_of = ViewByPart(model_, views);
    std::vector<std::vector<int>> writers(model_.buffers.size()), users(items_.size());
    for (size_t c = 0; c < items_.size(); ++c) {
      for (Id written : items_[c].writes) {
        writers[written].push_back(static_cast<int>(c));
        for (; view_of[written] != nullptr; written = view_of[written]->whole)
          writers[view_of[written]->whole].push_back(static_cast<int>(c));
      }
    }
    std::vector<int> missing(items_.size());
    for (size_t c = 0; c < items_.size(); ++c) {
      for (Id b : items_[c].reads) {
        if (view_of[b] != nullptr && view_of[b]->slice) b = view_of[b]->whole;
        for (const int writer : writers[b]) {
          users[writer].push_back(static_cast<int>(c));
          ++missing[c];
        }
      }
    }
    std::priority_queue<int, std::vector<int>, std::greater<>> ready;
    for (size_t c = 0; c < items_.size(); ++c) {
      if (missing[c] == 0) ready.push(static_cast<int>(c));
    }
    std::vector<ModelCall> sorted;
    while (!ready.empty()) {
      const int next = ready.top();
      ready.pop();
      for (const int user : users[next]) {
        if (--missing[user] == 0) ready.push(user);
      }
      sorted.push_back(std::move(items_[next].call));
    }
    if (sorted.size() != items_.size()) return absl::InternalError("tasks of the model depend on each other");
    return sorted;
  }

 private:
  struct Item {
    ModelCall call;
    int position = 0;  // in program order
    std::vector<Id> reads, writes;
  };

  void AddTasks() {
    const std::vector<char> prepared = PreparedBuffers(model_);
    for (size_t t = 0; t < tasks_.size(); ++t) {
      const Program& task = tasks_[t].program;
      for (const Outlined& place : tasks_[t].occurrences) {
        Item item{.call = {.task = static_cast<int>(t), .blocks = place.blocks, .buffers = place.boundary},
                  .position = position_[place.blocks.back()],
                  .reads = {},
                  .writes = {}};
        for (size_t i = 0; i < place.boundary.size(); ++i) {
          const bool writes = task.buffers[task.parameters[i]].role == Role::kOutput;
          (writes ? item.writes : item.reads).push_back(place.boundary[i]);
        }
        item.call.prepares = absl::c_all_of(WrittenBuffers(model_, place.blocks.back()),
                                            [&](Id b) { return prepared[b] != 0; });
        items_.push_back(std::move(item));
      }
    }
  }

  // Adds a foreign call with its position: right after the last block that writes what it reads, or first if there is
  // none.
  void AddForeign(const ForeignCall& foreign, int number) {
    Item item{.call = {.task = static_cast<int>(tasks_.size()) + number, .foreign = number},
              .position = -1,
              .reads = foreign.reads,
              .writes = foreign.writes};
    absl::c_copy(foreign.reads, std::back_inserter(item.call.buffers));
    absl::c_copy(foreign.writes, std::back_inserter(item.call.buffers));
    for (const Id b : foreign.reads) {
      for (const Id block : Writers(model_, b)) item.position = std::max(item.position, position_[block]);
    }
    items_.push_back(std::move(item));
  }

  const Program& model_;
  const std::vector<Task>& tasks_;
  std::vector<int> position_;  // by block
  std::vector<Item> items_;
};

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
    // Places what the call's prepare phase writes in the weights. Calls of one task on the same constants share these
    // arrays.
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

  // Places buffers and workspaces that are alive for a part of a run in `area`: in the scratch area those of the
  // prepare phase, in the arena all others. Leaves out buffers that lie in the weights already. Returns the size of the
  // area in bytes.
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

  // Gives each buffer of a view that lies in another buffer its location. The outermost buffers must have theirs
  // already.
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
                                    absl::Span<const TaskNeeds> needs,
                                    absl::Span<const ForeignCall> foreign) {
  ModelPlan plan{.views = ViewsOf(model, tasks)};
  auto calls = Order(model, tasks, foreign).Sorted(plan.views);
  if (!calls.ok()) return calls.status();
  plan.calls = *std::move(calls);
  Areas(model, plan).Place(needs);
  return plan;
}

}  // namespace kiln
