#include <algorithm>
#include <cctype>
#include <iterator>
#include <set>

#include "absl/algorithm/container.h"
#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_cat.h"
#include "lang/analysis/cost.h"
#include "lang/analysis/dataflow.h"
#include "lang/graph/merge_dims.h"
#include "lang/graph/outline.h"
#include "lang/graph/views.h"
#include "lang/schedule/select_dims.h"
#include "lang/text/hash.h"

namespace kiln {
namespace {

struct Unit {  // a child of the root
  std::vector<Id> blocks;
  std::vector<int> producers, consumers;  // units
  bool plain = true, reuses = false, in_order = true;
  bool prepared = false;        // its last block writes prepared buffers alone (PreparedBuffers)
  bool view = false;            // a copy that is no work (lang/graph/views.h), and no task
  bool foreign = false;         // a call of a foreign function, no nest
  int64_t rows = 1, whole = 1;  // number of spatial instances, and of all instances
  int group = 0;
};

struct Group {
  bool reuses = false;
  bool reduces = false;  // has a reduction without reuse, to which rows and whole refer
  bool prepared = false, view = false, foreign = false;
  int64_t rows = 0, whole = 0;
  std::set<int64_t> sizes;
  std::vector<int> units;
  bool plain() const { return !reuses && !reduces; }
};

class Grouping {
 public:
  Grouping(const Program& program, absl::Span<const char> prepared, absl::Span<const ForeignCall> foreign)
      : p_(program), prepared_(prepared), foreign_(foreign) {
    for (Id nest = p_.nodes[kRoot].first; nest != kNone; nest = p_.nodes[nest].next) AddUnit(nest);
    first_foreign_ = Count();
    for (size_t f = 0; f < foreign_.size(); ++f) AddForeign();
    Connect();
  }

  std::vector<std::vector<Id>> Run() {
    for (int u = 0; u < Count(); ++u) JoinProducers(u, /*permuting=*/false);
    for (int u = Count(); u-- > 0;) JoinOnlyConsumer(units_[u].group);
    for (int u = 0; u < Count(); ++u) {
      if (groups_[units_[u].group].plain()) JoinProducers(u, /*permuting=*/true);
    }
    std::vector<std::vector<Id>> tasks;
    for (int u = 0; u < Count(); ++u) {
      Group& group = groups_[units_[u].group];
      if (group.units.empty() || group.view || group.foreign) continue;
      std::sort(group.units.begin(), group.units.end());
      tasks.emplace_back();
      for (const int member : group.units) {
        tasks.back().insert(tasks.back().end(), units_[member].blocks.begin(), units_[member].blocks.end());
      }
      group.units.clear();
    }
    return tasks;
  }

 private:
  int Count() const { return static_cast<int>(units_.size()); }

  void AddUnit(Id nest) {
    Unit unit;
    unit.blocks = BlocksOf(p_, nest);
    if (unit.blocks.empty()) return;
    for (const Id block : unit.blocks) {
      unit.plain = unit.plain && p_.block(block).monoid == kNone;
      unit.reuses = unit.reuses || HasReuse(p_, block);
      unit.in_order = unit.in_order && KeepsOrder(p_, block);
    }
    unit.prepared =
        absl::c_all_of(WrittenBuffers(p_, unit.blocks.back()), [&](Id b) { return prepared_[b] != 0; });
    unit.view = IsView(p_, unit.blocks.back());
    for (const Iter& iter : p_.Iters(p_.block(unit.blocks.back()).iters)) {
      unit.whole *= iter.extent.Known();
      if (iter.kind == IterKind::kSpatial) unit.rows *= iter.extent.Known();
    }
    Group group;
    group.reuses = unit.reuses;
    group.reduces = !unit.plain && !unit.reuses;
    group.prepared = unit.prepared;
    group.view = unit.view;
    group.rows = unit.rows;
    group.whole = unit.whole;
    group.sizes = {unit.rows};
    if (group.reduces) group.sizes.insert(unit.whole);
    group.units = {unit.group = Count()};
    units_.push_back(std::move(unit));
    groups_.push_back(std::move(group));
  }

  // Adds a foreign call as a group of its own, which nothing joins.
  void AddForeign() {
    Unit unit;
    unit.foreign = true;
    Group group;
    group.foreign = true;
    group.units = {unit.group = Count()};
    units_.push_back(std::move(unit));
    groups_.push_back(std::move(group));
  }

  std::vector<Id> BuffersOf(int u, bool written) const {
    if (units_[u].foreign) {
      const ForeignCall& call = foreign_[u - first_foreign_];
      return written ? call.writes : call.reads;
    }
    std::vector<Id> all;
    for (const Id block : units_[u].blocks)
      absl::c_copy(written ? WrittenBuffers(p_, block) : ReadBuffers(p_, block), std::back_inserter(all));
    return all;
  }

  void Connect() {
    std::vector<std::vector<int>> writers(p_.buffers.size());
    for (int u = 0; u < Count(); ++u) {
      for (const Id b : BuffersOf(u, /*written=*/true)) writers[b].push_back(u);
    }
    for (int u = 0; u < Count(); ++u) {
      std::set<int> producers;
      for (const Id b : BuffersOf(u, /*written=*/false))
        producers.insert(writers[b].begin(), writers[b].end());
      producers.erase(u);
      units_[u].producers.assign(producers.begin(), producers.end());
      for (const int producer : producers) units_[producer].consumers.push_back(u);
    }
    for (const std::vector<int>& together : writers) {
      for (size_t i = 1; i < together.size() && !units_[together[0]].view; ++i)
        Merge(units_[together[0]].group, units_[together[i]].group, true);
    }
  }

  std::set<int> ConsumersOf(int group) const {
    std::set<int> consumers;
    for (const int u : groups_[group].units) {
      for (const int c : units_[u].consumers) consumers.insert(units_[c].group);
    }
    consumers.erase(group);
    return consumers;
  }

  // True if a path from one group to the other leads through a third group.
  bool DetourExists(int from, int to) const {
    std::set<int> seen = ConsumersOf(from);
    seen.erase(to);
    std::vector<int> open(seen.begin(), seen.end());
    while (!open.empty()) {
      const int at = open.back();
      open.pop_back();
      for (const int next : ConsumersOf(at)) {
        if (next == to) return true;
        if (seen.insert(next).second) open.push_back(next);
      }
    }
    return false;
  }

  bool Fits(const Unit& unit, const Group& group, bool permuting) const {
    if (unit.plain) return (unit.in_order || permuting) && group.sizes.contains(unit.rows);
    if (unit.reuses || group.reuses) return false;
    return group.reduces ? group.rows == unit.rows && group.whole == unit.whole
                         : group.sizes.contains(unit.whole);
  }

  bool CanMerge(int a, int b) const {
    const Group &x = groups_[a], &y = groups_[b];
    if (x.prepared != y.prepared || x.view || y.view || x.foreign || y.foreign) return false;
    if (x.reuses && !y.plain()) return false;
    if (y.reuses && !x.plain()) return false;
    if (x.reduces && y.reduces && (x.rows != y.rows || x.whole != y.whole)) return false;
    return !DetourExists(a, b) && !DetourExists(b, a);
  }

  void Merge(int into, int from, bool with_sizes) {
    if (into == from) return;
    Group &to = groups_[into], &gone = groups_[from];
    if (gone.reduces && !to.reduces) {
      to.rows = gone.rows;
      to.whole = gone.whole;
    }
    to.reuses = to.reuses || gone.reuses;
    to.reduces = to.reduces || gone.reduces;
    if (with_sizes) to.sizes.insert(gone.sizes.begin(), gone.sizes.end());
    for (const int u : gone.units) units_[u].group = into;
    to.units.insert(to.units.end(), gone.units.begin(), gone.units.end());
    gone.units.clear();
  }

  void JoinProducers(int u, bool permuting) {
    const Unit& unit = units_[u];
    for (auto it = unit.producers.rbegin(); it != unit.producers.rend(); ++it) {
      const int producer = units_[*it].group;
      if (producer == unit.group || !Fits(unit, groups_[producer], permuting)) continue;
      if (CanMerge(producer, unit.group)) Merge(producer, unit.group, true);
    }
  }

  void JoinOnlyConsumer(int group) {
    if (!groups_[group].plain() || groups_[group].view || groups_[group].foreign) return;
    const std::set<int> consumers = ConsumersOf(group);
    if (consumers.size() != 1) return;
    const Group& consumer = groups_[*consumers.begin()];
    if (consumer.prepared != groups_[group].prepared || consumer.view || consumer.foreign) return;
    Merge(*consumers.begin(), group, false);
  }

  const Program& p_;
  const absl::Span<const char> prepared_;
  const absl::Span<const ForeignCall> foreign_;
  int first_foreign_ = 0;  // the unit of foreign_[0]
  std::vector<Unit> units_;
  std::vector<Group> groups_;  // by their first unit
};

// Returns the blocks that only serve the status: they write it, or write temporaries that only such blocks read (at
// least one).
std::set<Id> StatusBlocks(const Program& p, absl::Span<const ForeignCall> foreign) {
  std::set<Id> read_by_foreign;
  for (const ForeignCall& call : foreign) read_by_foreign.insert(call.reads.begin(), call.reads.end());
  std::set<Id> found;
  const std::vector<Id> blocks = Blocks(p);
  for (auto block = blocks.rbegin(); block != blocks.rend(); ++block) {
    const std::vector<Id> written = WrittenBuffers(p, *block), readers = Consumers(p, *block);
    const bool serves = std::all_of(written.begin(), written.end(), [&](Id b) {
      return p.buffers[b].role == Role::kStatus ||
             (p.buffers[b].role == Role::kTemporary && !readers.empty() && !read_by_foreign.contains(b));
    });
    if (serves && std::all_of(readers.begin(), readers.end(), [&](Id r) { return found.count(r) > 0; }))
      found.insert(*block);
  }
  return found;
}

std::string NameOf(const Program& p, const std::vector<Id>& blocks) {
  Id heaviest = blocks.front();
  const auto weight = [&](Id b) { return std::make_pair(HasReuse(p, b), Flops(p, b)); };
  for (const Id b : blocks) {
    if (weight(heaviest) < weight(b)) heaviest = b;
  }
  std::string name(p.Text(p.block(heaviest).name));
  name = absl::StrCat(p.name, "_", name.substr(0, name.find('.')));
  for (char& c : name) {
    if (!std::isalnum(static_cast<unsigned char>(c))) c = '_';
  }
  return name;
}

// The groups of blocks of a program. `tasks` are searched. `others` need no search: they compute prepared buffers, or
// only serve the status.
struct Groups {
  std::vector<std::vector<Id>> tasks, others;
  std::vector<char> prepared;  // PreparedBuffers
  absl::Span<const ForeignCall> foreign;
  bool IsOne() const { return tasks.size() <= 1 && foreign.empty(); }
};

Groups GroupsOf(const Program& program, absl::Span<const ForeignCall> foreign) {
  Groups groups{.tasks = {}, .others = {}, .prepared = PreparedBuffers(program), .foreign = foreign};
  const std::set<Id> checks = StatusBlocks(program, foreign);
  const auto needs_no_search = [&](Id block) {
    return checks.contains(block) ||
           absl::c_all_of(WrittenBuffers(program, block), [&](Id b) { return groups.prepared[b] != 0; });
  };
  for (std::vector<Id>& group : Grouping(program, groups.prepared, foreign).Run())
    (absl::c_all_of(group, needs_no_search) ? groups.others : groups.tasks).push_back(std::move(group));
  return groups;
}

absl::StatusOr<std::vector<Task>> OutlineAll(const Program& program,
                                             const std::vector<std::vector<Id>>& groups, const Groups& all,
                                             const Policies& policies, const CostTable& costs) {
  std::vector<Task> tasks;
  absl::flat_hash_map<Hash128, std::vector<size_t>> known;
  std::set<std::string> names;
  const bool simplified = HasGivenConstants(program);
  for (const std::vector<Id>& blocks : groups) {
    absl::StatusOr<Outlined> outlined =
        Outline(program, blocks, NameOf(program, blocks), all.prepared, all.foreign);
    if (!outlined.ok()) return outlined.status();
    if (simplified) DropUnitDims(outlined->task, /*of_parameters=*/true);
    outlined->task = MergeDims(outlined->task, policies, costs);
    std::vector<size_t>& same_hash = known[HashOf(outlined->task)];
    const auto equal = std::find_if(same_hash.begin(), same_hash.end(),
                                    [&](size_t t) { return Equal(tasks[t].program, outlined->task); });
    size_t index = tasks.size();
    if (equal != same_hash.end()) {
      index = *equal;
    } else {
      same_hash.push_back(index);
      tasks.push_back({std::move(outlined->task), {}});
      const std::string name = tasks[index].program.name;
      for (int i = 2; !names.insert(tasks[index].program.name).second; ++i) {
        tasks[index].program.name = absl::StrCat(name, "_", i);
      }
    }
    outlined->task = Program();
    tasks[index].occurrences.push_back(*std::move(outlined));
  }
  return tasks;
}

absl::StatusOr<std::vector<Task>> TasksToSearch(const Program& program, const Groups& groups,
                                                const Policies& policies, const CostTable& costs) {
  if (!groups.IsOne()) return OutlineAll(program, groups.tasks, groups, policies, costs);
  Outlined all{{}, Blocks(program), program.parameters};
  return std::vector<Task>{Task{MergeDims(program, policies, costs), {std::move(all)}}};
}

absl::StatusOr<std::vector<Task>> OtherTasks(const Program& program, const Groups& groups,
                                             const Policies& policies, const CostTable& costs) {
  if (groups.IsOne()) return std::vector<Task>{};
  return OutlineAll(program, groups.others, groups, policies, costs);
}

}  // namespace

absl::StatusOr<std::vector<Task>> ExtractTasks(const Program& program, const Policies& policies,
                                               const CostTable& costs,
                                               absl::Span<const ForeignCall> foreign) {
  return TasksToSearch(program, GroupsOf(program, foreign), policies, costs);
}

absl::StatusOr<std::vector<Task>> ExtractAllTasks(const Program& program, const Policies& policies,
                                                  const CostTable& costs,
                                                  absl::Span<const ForeignCall> foreign) {
  const Groups groups = GroupsOf(program, foreign);
  auto tasks = TasksToSearch(program, groups, policies, costs);
  auto others = OtherTasks(program, groups, policies, costs);
  if (!tasks.ok()) return tasks.status();
  if (!others.ok()) return others.status();
  absl::c_move(*others, std::back_inserter(*tasks));
  return tasks;
}

}  // namespace kiln
