#include "validator/proof/spaces.h"

#include <algorithm>

#include "lang/analysis/legality.h"
#include "validator/proof/algebra.h"

namespace kiln::proof {
namespace {

// Expresses the marks and dead loops that a binding refers to by the loop variables of a space. Adds the conditions
// that they lie in their extents.
class Maker {
 public:
  Maker(const Program& program, const Space* outer, Space& space)
      : p_(program), outer_(outer), space_(space) {}

  IndexSum Value(Source source) {
    if (source.kind == Source::Kind::kIter) return outer_->iters[source.id];
    if (source.kind == Source::Kind::kMark) return Checked(source.id);
    const auto at = std::find(space_.loops.begin(), space_.loops.end(), source.id);
    if (at != space_.loops.end()) return space_.at[at - space_.loops.begin()];
    return Checked(p_.loops[p_.nodes[source.id].index].definition);
  }

  IndexSum Checked(Id mark) {
    const auto known = values_.find(mark);
    if (known != values_.end()) return known->second;
    const int64_t extent = p_.marks[mark].extent.Known();
    const IndexSum value = *Replace(  // the dividend is in range: Checked requires it
        space_.points, p_.SumOf(mark), [&](Source s) { return Value(s); },
        [&](Source s) { return ExtentOf(s); });
    Require(value, extent);
    return values_[mark] = value;
  }

  void Require(const IndexSum& value, int64_t extent) {
    const Interval bounds = Bounds(value, space_.points);
    if (bounds.min >= 0 && bounds.max < extent) return;
    std::vector<Condition>& conditions = space_.points.conditions;
    if (std::none_of(conditions.begin(), conditions.end(),
                     [&](const Condition& c) { return c.extent == extent && c.value == value; }))
      conditions.push_back({value, extent});
  }

 private:
  int64_t ExtentOf(Source source) const {
    if (source.kind == Source::Kind::kIter)
      return p_.Iters(p_.block(outer_->block).iters)[source.id].extent.Known();
    if (source.kind == Source::Kind::kMark) return p_.marks[source.id].extent.Known();
    return p_.loops[p_.nodes[source.id].index].extent.Known();
  }

  const Program& p_;
  const Space* outer_;
  Space& space_;
  std::map<Id, IndexSum> values_;
};

}  // namespace

bool MayRunAtOnce(LoopKind kind) {
  return kind != LoopKind::kSerial && kind != LoopKind::kUnrolled && kind != LoopKind::kPipelined;
}

bool Combines(LoopKind kind) { return kind == LoopKind::kVectorized || IsThreadAxis(kind); }

Spaces::Spaces(const Program& program) : p_(program) {
  std::vector<Id> around;
  int next = 0;
  Add(kRoot, around, next);
}

void Spaces::Add(Id node, std::vector<Id>& around, int& next) {
  places_[node].begin = next++;
  const bool loop = p_.IsLoop(node);
  if (loop) around.push_back(node);
  if (p_.IsBlock(node)) {
    blocks_.push_back(node);
    Id enclosing = p_.nodes[node].parent;
    while (enclosing != kNone && !p_.IsBlock(enclosing)) enclosing = p_.nodes[enclosing].parent;
    Space& space = spaces_[node];
    const Space* outer = nullptr;
    if (enclosing != kNone) {
      outer = &spaces_.at(enclosing);
      space = *outer;
      space.iters.clear();
    }
    space.block = node;
    for (size_t i = space.loops.size(); i < around.size(); ++i)
      space.at.push_back(space.points.Add(p_.loop(around[i]).extent.Known()));
    space.loops = around;
    Maker maker(p_, outer, space);
    for (const Iter& iter : p_.Iters(p_.block(node).iters))
      space.iters.push_back(maker.Checked(iter.binding));
    const auto domain = ConditionsAt(p_, node, p_.block(node).domain, space.points, space.iters);
    for (const Condition& c : *domain) maker.Require(c.value, c.extent);
  }
  for (Id child = p_.nodes[node].first; child != kNone; child = p_.nodes[child].next)
    Add(child, around, next);
  if (loop) around.pop_back();
  places_[node].end = next;
}

size_t Spaces::Common(Id a, Id b) const {
  const std::vector<Id>&one = of(a).loops, &other = of(b).loops;
  size_t n = 0;
  while (n < one.size() && n < other.size() && one[n] == other[n]) ++n;
  return n;
}

Id Spaces::StartOf(Id block) const {
  std::vector<std::pair<Id, Id>> work;  // pairs of a mark and the block whose iters it may use
  const auto around = [&](Id node) {
    do node = p_.nodes[node].parent;
    while (node != kNone && !p_.IsBlock(node));
    return node;
  };
  for (const Iter& iter : p_.Iters(p_.block(block).iters)) {
    if (iter.kind == IterKind::kReduction) work.emplace_back(iter.binding, around(block));
  }
  Id start = kNone;
  while (!work.empty()) {
    const auto [mark, outer] = work.back();
    work.pop_back();
    for (const IndexSplit& s : p_.Splits(p_.marks[mark].splits)) {
      if (s.source.kind == Source::Kind::kMark) {
        work.emplace_back(s.source.id, outer);
      } else if (s.source.kind == Source::Kind::kIter) {
        work.emplace_back(p_.Iters(p_.block(outer).iters)[s.source.id].binding, around(outer));
      } else if (!p_.IsLoop(s.source.id)) {
        work.emplace_back(p_.loops[p_.nodes[s.source.id].index].definition, outer);
      } else if (start == kNone || places_.at(s.source.id).begin < places_.at(start).begin) {
        start = s.source.id;
      }
    }
  }
  return start;
}

Points BoxOf(const Program& program, Id block) {
  Points points;
  std::vector<IndexSum> iters;
  for (const Iter& iter : program.Iters(program.block(block).iters))
    iters.push_back(points.Add(iter.extent.Known()));
  points.conditions = *ConditionsAt(program, block, program.block(block).domain, points, iters);
  return points;
}

std::optional<std::vector<IndexSum>> IndicesAt(const Program& program, Id block, Range marks, Points& points,
                                               const std::vector<IndexSum>& iters) {
  std::vector<IndexSum> sums;
  const auto own = program.Iters(program.block(block).iters);
  for (const Id mark : program.List(marks)) {
    const std::optional<IndexSum> sum = Replace(
        points, program.SumOf(mark), [&](Source s) { return iters[s.id]; },
        [&](Source s) { return own[s.id].extent.Known(); });
    if (!sum.has_value()) return std::nullopt;
    sums.push_back(*sum);
  }
  return sums;
}

std::optional<std::vector<Condition>> ConditionsAt(const Program& program, Id block, Range marks,
                                                   Points& points, const std::vector<IndexSum>& iters) {
  const std::optional<std::vector<IndexSum>> values = IndicesAt(program, block, marks, points, iters);
  if (!values.has_value()) return std::nullopt;
  std::vector<Condition> conditions;
  for (size_t i = 0; i < values->size(); ++i)
    conditions.push_back({(*values)[i], program.marks[program.List(marks)[i]].extent.Known()});
  return conditions;
}

}  // namespace kiln::proof
