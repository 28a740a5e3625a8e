#include "validator/proof/model.h"

#include <algorithm>

#include "absl/strings/str_cat.h"

namespace kiln::proof {

Model::Model(const Program& program) : spaces_(program), units_(program.buffers.size()) {
  std::vector<std::vector<Writer>> writers(program.buffers.size());
  for (const Id block : spaces_.blocks()) {
    const auto dests = program.Accesses(program.block(block).dests);
    for (size_t r = 0; r < dests.size(); ++r)
      writers[dests[r].buffer].push_back({block, static_cast<int>(r)});
  }
  for (size_t b = 0; b < writers.size(); ++b) {
    if (writers[b].empty()) continue;
    if (std::any_of(writers[b].begin(), writers[b].end(),
                    [&](const Writer& w) { return program.block(w.block).monoid != kNone; })) {
      units_[b] = Reductions(writers[b]);
      continue;
    }
    Unit unit;
    unit.writers = writers[b];
    units_[b].push_back(unit);
  }
}

Id Model::Around(Id a, Id b) const {
  const Stretch& other = spaces_.place(b);
  while (spaces_.place(a).begin > other.begin || spaces_.place(a).end < other.end)
    a = program().nodes[a].parent;
  return a;
}

void Model::Enclose(const std::vector<Writer>& writers, Unit& unit) const {
  const Program& p = program();
  Id around = p.nodes[writers[0].block].parent;
  for (const Writer& w : writers) around = Around(around, p.nodes[w.block].parent);
  unit.stretch = {spaces_.place(around).end, 0};
  for (const Writer& w : writers) {
    Id child = w.block;
    while (p.nodes[child].parent != around) child = p.nodes[child].parent;
    unit.stretch.begin = std::min(unit.stretch.begin, spaces_.place(child).begin);
    unit.stretch.end = std::max(unit.stretch.end, spaces_.place(child).end);
  }
  unit.around = 0;
  for (Id node = around; node != kNone; node = p.nodes[node].parent) unit.around += p.IsLoop(node);
}

namespace {

// Merges reductions with a common initialization: moves those of `units` that share an initializing block with `unit`
// into `unit`.
void TakeThoseStartedAlike(std::vector<Unit>& units, Unit& unit) {
  for (size_t u = 0; u < units.size();) {
    const auto shared = [&](const Writer& s) {
      return std::any_of(unit.starters.begin(), unit.starters.end(),
                         [&](const Writer& own) { return own.block == s.block; });
    };
    Unit& other = units[u];
    if (std::none_of(other.starters.begin(), other.starters.end(), shared)) {
      ++u;
      continue;
    }
    for (const Writer& s : other.starters) {
      if (!shared(s)) unit.starters.push_back(s);
    }
    unit.writers.insert(unit.writers.begin(), other.writers.begin(), other.writers.end());
    units.erase(units.begin() + static_cast<int64_t>(u));
  }
}

}  // namespace

std::vector<Unit> Model::Reductions(const std::vector<Writer>& writers) {
  const Program& p = program();
  std::vector<Unit> units;
  std::vector<Writer> starters;
  for (const Writer& w : writers) {
    const BlockNode& block = p.block(w.block);
    if (block.monoid == kNone) {
      starters.push_back(w);
      continue;
    }
    Unit unit;
    unit.reduces = true;
    unit.writers = {w};
    if (!block.accumulates) {
      const Id start = spaces_.StartOf(w.block);
      unit.stretch = spaces_.place(start == kNone ? w.block : start);
      for (const Id loop : spaces_.of(w.block).loops)
        unit.around += start == kNone || spaces_.Before(loop, start);
      units.push_back(unit);
      continue;
    }
    // Finds the blocks that initialize the writer: of the preceding stores to the buffer, those that share the most
    // enclosing nodes with it.
    int deepest = -1;
    for (const Writer& s : starters) {
      const int depth = spaces_.place(Around(p.nodes[w.block].parent, s.block)).begin;
      if (depth < deepest) continue;
      if (depth > deepest) unit.starters.clear();
      deepest = depth;
      unit.starters.push_back(s);
    }
    TakeThoseStartedAlike(units, unit);
    units.push_back(unit);
  }
  size_t used = 0;
  for (Unit& unit : units) {
    if (unit.starters.empty() && p.block(unit.writers[0].block).accumulates)
      problem_ = absl::StrCat("nothing initializes what block \"",
                              p.Text(p.block(unit.writers[0].block).name), "\" accumulates into");
    if (unit.starters.empty()) continue;
    used += unit.starters.size();
    std::vector<Writer> all = unit.starters;
    all.insert(all.end(), unit.writers.begin(), unit.writers.end());
    Enclose(all, unit);
    for (const Writer& s : unit.starters) {
      for (const Writer& w : unit.writers) {
        if (!spaces_.Before(s.block, w.block) || spaces_.Common(s.block, w.block) != unit.around)
          problem_ = absl::StrCat("initialization and updates of ", p.Text(p.buffers[Dest(w).buffer].name),
                                  " are interleaved");
      }
    }
  }
  if (used != starters.size())
    problem_ =
        absl::StrCat(p.Text(p.buffers[Dest(writers[0]).buffer].name), " is stored to and reduced into");
  return units;
}

}  // namespace kiln::proof
