#include "lang/analysis/loop_nest_summary.h"

#include <algorithm>
#include <cstdlib>

#include "absl/algorithm/container.h"
#include "lang/analysis/legality.h"
#include "lang/analysis/region.h"
#include "lang/base/defect.h"

namespace kiln {
namespace {

bool IsRange(const NestTerm& t) { return t.lower == 1 && t.extent == 0; }

// Adds scale * part to an interval.
void Add(Interval& sum, Interval part, int64_t scale) {
  const int64_t a = part.min * scale, b = part.max * scale;
  sum = {sum.min + std::min(a, b), sum.max + std::max(a, b)};
}

uint64_t Hash(const NestTerm& t) {
  uint64_t h = static_cast<uint64_t>(t.loop) * 0x9e3779b97f4a7c15u + static_cast<uint64_t>(t.scale);
  h = h * 0xbf58476d1ce4e5b9u + static_cast<uint64_t>(t.lower);
  h = h * 0x94d049bb133111ebu + static_cast<uint64_t>(t.extent);
  return h ^ (h >> 31);
}

}  // namespace

void LoopNestSummary::Read(const Program& program) {
  program_ = &program;
  loops_.clear();
  blocks_.clear();
  accesses_.clear();
  axes_.clear();
  terms_.clear();
  path_.clear();
  exprs_.clear();
  values_.clear();
  buffers_.assign(program.buffers.size(), NestBuffer());
  position_.assign(program.nodes.size(), -1);
  known_.assign(program.nodes.size(), -1);
  seen_.assign(program.exprs.size(), -1);
  Visit(kRoot, -1, -1, 0);
  for (size_t b = 0; b < buffers_.size(); ++b)
    if (buffers_[b].first >= 0) Place(buffers_[b], program.buffers[b].role == Role::kTemporary);
}

void LoopNestSummary::Visit(Id node, int32_t loop, int32_t iters, uint64_t guarded) {
  for (Id child = program_->nodes[node].first; child != kNone; child = program_->nodes[child].next) {
    if (!program_->IsLoop(child)) {
      AddBlock(child, loop, iters, guarded);
      continue;
    }
    const LoopNode& l = program_->loop(child);
    const int32_t position = static_cast<int32_t>(loops_.size());
    position_[child] = position;
    loops_.push_back({child, loop, loop < 0 ? 0 : loops_[loop].depth + 1, l.extent.Known(), l.kind});
    Visit(child, position, iters, guarded);
  }
}

void LoopNestSummary::AddBlock(Id node, int32_t loop, int32_t scope, uint64_t guarded) {
  const BlockNode& b = program_->block(node);
  const int32_t number = static_cast<int32_t>(blocks_.size());
  NestBlock block;
  block.node = node;
  block.loop = loop;
  block.guarded = guarded;
  block.depth = loop < 0 ? 0 : loops_[loop].depth + 1;
  block.leaf = program_->nodes[node].first == kNone;
  block.path = {static_cast<int32_t>(path_.size()), block.depth};
  path_.resize(path_.size() + block.depth);
  for (int32_t at = loop, d = block.depth; at >= 0; at = loops_[at].parent)
    path_[block.path.begin + --d] = at;
  block.prepared = program_->nodes[NestOf(*program_, node)].prepare;
  absl::InlinedVector<Value, 8> iters;
  for (const Iter& iter : program_->Iters(b.iters)) {
    iters.push_back(Checked(iter.binding, scope));
    (iter.kind == IterKind::kSpatial ? block.spatial : block.reduction) |= LoopsOf(iters.back().terms);
    block.guarded |= iters.back().guarded;
  }
  const int32_t own = static_cast<int32_t>(values_.size());
  values_.insert(values_.end(), iters.begin(), iters.end());
  for (const Id mark : program_->List(b.domain)) block.guarded |= Checked(mark, own).guarded;

  block.accesses.begin = static_cast<int32_t>(accesses_.size());
  block.exprs.begin = static_cast<int32_t>(exprs_.size());
  blocks_.push_back(block);
  for (const Id value : program_->List(b.values)) AddBody(value, 0, own);
  for (const Id value : program_->List(b.initial)) AddBody(value, 0, own);
  for (const Access& dest : program_->Accesses(b.dests))
    AddAccess(dest.buffer, ValuesOf(dest.index, own), b.monoid != kNone, true, 0);
  block.accesses.count = static_cast<int32_t>(accesses_.size()) - block.accesses.begin;
  block.exprs.count = static_cast<int32_t>(exprs_.size()) - block.exprs.begin;
  blocks_[number] = block;
  if (!block.leaf) Visit(node, loop, own, block.guarded);
}

void LoopNestSummary::AddBody(Id expr, uint64_t within, int32_t iters) {
  const int32_t number = static_cast<int32_t>(blocks_.size()) - 1;
  if (seen_[expr] == number) return;
  seen_[expr] = number;
  const Expr& e = program_->exprs[expr];
  uint64_t inside = within;
  if (e.op == Op::kLoad) {
    AddAccess(e.AsLoad().buffer, ValuesOf(e.AsLoad().index, iters), true, false, within);
  } else if (e.op == Op::kWithin) {
    for (const Id mark : program_->List(e.AsWithin().marks)) inside |= Condition(mark, ValueOf(mark, iters));
  }
  for (const Id operand : e.Operands()) {
    AddBody(operand, inside, iters);
    inside = within;
  }
  if (e.op == Op::kGather) AddGather(e, within, iters);
  exprs_.push_back(expr);
}

LoopNestSummary::Values LoopNestSummary::ValuesOf(Range marks, int32_t iters) {
  Values values;
  for (const Id mark : program_->List(marks)) values.push_back(ValueOf(mark, iters));
  return values;
}

// Returns a guess of a computed index, not exact and not bounded: all loops that occur in it, each with scale 1.
LoopNestSummary::Value LoopNestSummary::Guess(Id index, int32_t iters) {
  Values sources;
  absl::InlinedVector<Id, 8> open{index};
  while (!open.empty()) {
    const Expr& e = program_->exprs[open.back()];
    open.pop_back();
    if (e.op == Op::kIndex) sources.push_back(ValueOf(e.AsIndex(), iters));
    if (e.op == Op::kLoad) {
      const Values more = ValuesOf(e.AsLoad().index, iters);
      sources.insert(sources.end(), more.begin(), more.end());
    }
    open.insert(open.end(), e.Operands().begin(), e.Operands().end());
  }
  Value guess{0, {static_cast<int32_t>(terms_.size()), 0}, 0, false, {0, 0}, false};
  for (const Value& source : sources) {
    for (int t = 0; t < source.terms.count; ++t) {
      const NestTerm term = terms_[source.terms.begin + t];
      terms_.push_back({.loop = term.loop, .values = term.values});
    }
  }
  guess.terms.count = static_cast<int32_t>(terms_.size()) - guess.terms.begin;
  return guess;
}

void LoopNestSummary::AddGather(const Expr& gather, uint64_t within, int32_t iters) {
  const std::vector<Id> index = program_->GatherIndex(gather);
  const std::vector<int32_t> marks = GatherMarks(*program_, blocks_.back().node, gather);
  Values values;
  for (size_t d = 0; d < index.size(); ++d)
    values.push_back(marks[d] == kNone ? Guess(index[d], iters) : ValueOf(marks[d], iters));
  AddAccess(gather.AsGather().buffer, std::move(values), true, false, within);
}

void LoopNestSummary::AddAccess(Id buffer, Values values, bool reads, bool writes, uint64_t within) {
  const Buffer& b = program_->buffers[buffer];
  NestAccess access;
  access.buffer = buffer;
  access.block = static_cast<int32_t>(blocks_.size()) - 1;
  access.reads = reads;
  access.writes = writes;
  access.within = within;
  const bool layout = b.layout.axes.count > 0;
  if (layout) {
    const int32_t logical = static_cast<int32_t>(values_.size());
    values_.insert(values_.end(), values.begin(), values.end());
    values.clear();
    for (const Id mark : program_->List(b.layout.axes)) values.push_back(ValueOf(mark, logical));
  }
  access.axes = {static_cast<int32_t>(axes_.size()), static_cast<int32_t>(values.size())};
  for (size_t a = 0; a < values.size(); ++a) {
    NestAxis axis;
    axis.offset = values[a].offset;
    axis.size = layout ? program_->marks[program_->List(b.layout.axes)[a]].extent.Known()
                       : program_->Dims(b.shape)[a].Known();
    axis.terms = {static_cast<int32_t>(terms_.size()), values[a].terms.count};
    axis.exact = values[a].exact;
    axis.digits = values[a].digits;
    axis.bounded = values[a].bounded;
    for (int i = 0; i < values[a].terms.count; ++i)  // copies, since compaction changes them
      terms_.push_back(NestTerm(terms_[values[a].terms.begin + i]));
    axes_.push_back(axis);
  }
  access.next = buffers_[buffer].first;
  buffers_[buffer].first = static_cast<int32_t>(accesses_.size());
  accesses_.push_back(access);
}

LoopNestSummary::Value LoopNestSummary::Checked(Id mark, int32_t iters) {
  Value value = ValueOf(mark, iters);
  value.guarded |= Condition(mark, value);
  return value;
}

// Returns a mask of the loops that decide whether a mark lies in its extent; 0 if it always does.
uint64_t LoopNestSummary::Condition(Id mark, const Value& value) const {
  const Interval bounds = BoundsOf(value);
  return bounds.min < 0 || bounds.max >= program_->marks[mark].extent.Known() ? LoopsOf(value.terms) : 0;
}

LoopNestSummary::Value LoopNestSummary::ValueOfSource(Source source, int32_t iters) {
  if (source.kind == Source::Kind::kIter) return values_[iters + source.id];
  if (source.kind == Source::Kind::kMark) return Checked(source.id, iters);
  if (program_->nodes[source.id].kind == Node::Kind::kDead) {
    if (known_[source.id] < 0) {
      const Value value = Checked(program_->loops[program_->nodes[source.id].index].definition, iters);
      known_[source.id] = static_cast<int32_t>(values_.size());
      values_.push_back(value);
    }
    return values_[known_[source.id]];
  }
  const int32_t loop = position_[source.id];
  if (loop < 0 || loops_[loop].extent == 1) return {};
  terms_.push_back({.loop = loop, .values = loops_[loop].extent});
  return {0, {static_cast<int32_t>(terms_.size()) - 1, 1}, 0, true};
}

LoopNestSummary::Value LoopNestSummary::ValueOf(Id mark, int32_t iters) {
  const IndexMark& m = program_->marks[mark];
  Values sources;
  for (int i = 0; i < m.splits.count; ++i)
    sources.push_back(ValueOfSource(program_->splits[m.splits.begin + i].source, iters));
  if (sources.size() == 1 && m.offset == 0) {
    const IndexSplit& s = program_->splits[m.splits.begin];
    if (s.scale == 1 && s.lower == 1 && s.extent == 0) return sources[0];
  }
  Value out;
  out.offset = m.offset;
  out.terms.begin = static_cast<int32_t>(terms_.size());
  for (int i = 0; i < m.splits.count; ++i) {
    const IndexSplit& split = program_->splits[m.splits.begin + i];
    const Value& value = sources[i];
    out.guarded |= value.guarded;
    out.exact &= value.exact;
    out.bounded &= value.bounded;
    if (split.lower == 1 && split.extent == 0) {
      out.offset += value.offset * split.scale;
      Add(out.digits, value.digits, split.scale);
      for (int t = 0; t < value.terms.count; ++t) {
        NestTerm term = terms_[value.terms.begin + t];
        term.scale *= split.scale;
        terms_.push_back(term);
      }
      continue;
    }
    const size_t before = terms_.size();
    if (Divide(value, split)) {
      const int64_t digit = value.offset / split.lower;
      out.offset += (split.extent == 0 ? digit : digit % split.extent) * split.scale;
    } else {
      terms_.resize(before);
      DivideSlow(value, split, out);
    }
  }
  out.terms.count = static_cast<int32_t>(terms_.size()) - out.terms.begin;
  Normalize(out);
  return out;
}

// Appends the terms of split.scale * ((value / lower) % extent) to terms_. Returns true if these are exact: every term
// of the value is a multiple of `lower`, vanishes in the division, or can be split in two, and nothing carries.
// Otherwise returns false and leaves partial terms.
bool LoopNestSummary::Divide(const Value& value, const IndexSplit& split) {
  const int64_t lower = split.lower, extent = split.extent;
  if (value.offset < 0) return false;
  int64_t rest = value.offset % lower, digits = extent == 0 ? 0 : value.offset / lower % extent;
  for (int i = 0; i < value.terms.count; ++i) {
    NestTerm t = terms_[value.terms.begin + i];
    if (t.scale < 0 || t.guess || !IsRange(t)) return false;
    if (t.scale % lower == 0) {
      t.scale /= lower;
    } else if (t.scale * (t.values - 1) + rest < lower) {
      rest += t.scale * (t.values - 1);
      continue;
    } else if (lower % t.scale == 0) {
      rest += lower - t.scale;
      t.lower = lower / t.scale;
      t.scale = 1;
      t.values = (t.values + t.lower - 1) / t.lower;
    } else {
      return false;
    }
    if (extent != 0) {
      if (t.scale % extent == 0) continue;
      if (t.scale * (t.values - 1) >= extent) {
        if (extent % t.scale != 0) return false;
        t.extent = t.values = extent / t.scale;
      }
      digits += t.scale * (t.values - 1);
    }
    if (t.values <= 1) continue;
    t.scale *= split.scale;
    terms_.push_back(t);
  }
  return rest < lower && (extent == 0 || digits < extent);
}

void LoopNestSummary::DivideSlow(const Value& value, const IndexSplit& split, Value& out) {
  const auto extent_of = [this](Source source) { return program_->loop(source.id).extent.Known(); };
  const IndexSum sum = AsSum(value);
  if (value.exact && Bounds(sum, extent_of).min >= 0) {
    if (const std::optional<IndexSum> digit = DivMod(sum, split.lower, split.extent, extent_of)) {
      out.offset += digit->offset * split.scale;
      AddTerms(*digit, split.scale);
      return;
    }
  }
  out.exact = false;
  // Bounds the value before the division. Without a remainder, multiples of the divisor stay linear and do not count.
  const auto divides = [&](const NestTerm& t) {
    return split.extent == 0 && !t.guess && t.scale > 0 && t.scale % split.lower == 0;
  };
  Interval range = BoundsOf(value);
  if (absl::c_any_of(Part(terms_, value.terms), divides)) {
    range = {value.offset + value.digits.min, value.offset + value.digits.max};
    for (const NestTerm& t : Part(terms_, value.terms))
      if (!t.guess && !divides(t)) Add(range, {0, t.values - 1}, t.scale);
  }
  Id mark = split.source.kind == Source::Kind::kMark ? split.source.id : kNone;
  if (split.source.kind == Source::Kind::kLoop) mark = program_->loop(split.source.id).definition;
  if (mark != kNone)  // no instance exists beyond its extent
    range.max = std::min(range.max, program_->marks[mark].extent.Known() - 1);
  out.bounded &= range.min >= 0;
  range = {range.min / split.lower, range.max / split.lower};
  if (split.extent != 0) {
    const bool wraps = range.min / split.extent != range.max / split.extent;
    range =
        wraps ? Interval{0, split.extent - 1} : Interval{range.min % split.extent, range.max % split.extent};
  }
  if (!KILN_DEFECT("nests.digits")) Add(out.digits, range, split.scale);
  for (int i = 0; i < value.terms.count; ++i) {
    NestTerm t = terms_[value.terms.begin + i];
    t.guess = !divides(t);
    if (split.extent != 0) t.values = std::min(t.values, split.extent);
    t.scale = std::max<int64_t>(1, std::abs(t.scale) / split.lower) * split.scale;
    terms_.push_back(t);
  }
}

void LoopNestSummary::AddTerms(const IndexSum& sum, int64_t scale) {
  for (const IndexSplit& s : sum.splits) {
    const int32_t loop = position_[s.source.id];
    int64_t values = (loops_[loop].extent + s.lower - 1) / s.lower;
    if (s.extent != 0) values = std::min(values, s.extent);
    if (values > 1) terms_.push_back({loop, false, s.scale * scale, s.lower, s.extent, values});
  }
}

IndexSum LoopNestSummary::AsSum(const Value& value) const {
  IndexSum sum = IndexSum::Constant(value.offset);
  for (const NestTerm& t : Part(terms_, value.terms))
    sum.splits.push_back({Source::Loop(loops_[t.loop].node), t.scale, t.lower, t.extent});
  return sum;
}

// Simplifies a value in which one loop has several terms, if it is exact. Its terms must be the last ones in terms_.
void LoopNestSummary::Normalize(Value& value) {
  if (!value.exact) return;
  const auto terms = Part(terms_, value.terms);
  bool repeated = false;
  for (size_t i = 1; i < terms.size(); ++i)
    for (size_t j = 0; j < i; ++j) repeated |= terms[i].loop == terms[j].loop;
  if (!repeated) return;
  const IndexSum sum =
      Simplify(AsSum(value), [this](Source source) { return program_->loop(source.id).extent.Known(); });
  terms_.resize(value.terms.begin);
  value.offset = sum.offset;
  AddTerms(sum, 1);
  value.terms.count = static_cast<int32_t>(terms_.size()) - value.terms.begin;
}

Interval LoopNestSummary::BoundsOf(const Value& value) const {
  Interval bounds{value.offset + value.digits.min, value.offset + value.digits.max};
  const auto terms = Part(terms_, value.terms);
  bool repeated = false;
  for (size_t i = 0; i < terms.size(); ++i) {
    if (terms[i].guess) continue;
    const int64_t reach = terms[i].scale * (terms[i].values - 1);
    (reach < 0 ? bounds.min : bounds.max) += reach;
    for (size_t j = 0; j < i; ++j) repeated |= terms[i].loop == terms[j].loop && !terms[j].guess;
  }
  if (!repeated || !value.exact) return bounds;
  return Bounds(AsSum(value), [this](Source source) { return program_->loop(source.id).extent.Known(); });
}

uint64_t LoopNestSummary::LoopsOf(Range terms) const {
  uint64_t mask = 0;
  for (const NestTerm& t : Part(terms_, terms)) mask |= Bit(loops_[t.loop].depth);
  return mask;
}

uint64_t LoopNestSummary::Indexed(const NestAccess& access) const {
  uint64_t mask = 0;
  for (const NestAxis& axis : axes(access)) mask |= LoopsOf(axis.terms);
  return mask;
}

int64_t LoopNestSummary::Stride(const NestAccess& access, int depth) const {
  int64_t stride = 0;
  for (const NestAxis& axis : axes(access)) {
    for (const NestTerm& t : terms(axis)) {
      if (loops_[t.loop].depth == depth && t.lower == 1) stride += t.scale * axis.stride;
    }
  }
  return stride;
}

void LoopNestSummary::Place(NestBuffer& placed, bool temporary) {
  const NestBlock& one = blocks_[accesses_[placed.first].block];
  const auto path = this->path(one);
  size_t shared = path.size();
  for (int32_t a = accesses_[placed.first].next; a >= 0; a = accesses_[a].next) {
    const auto other = this->path(blocks_[accesses_[a].block]);
    const auto end = path.begin() + static_cast<int64_t>(std::min(shared, other.size()));
    shared = std::mismatch(path.begin(), end, other.begin()).first - path.begin();
  }
  placed.shared = static_cast<int32_t>(shared);
  if (temporary) {
    size_t home = 0;
    const auto may_hold = [&](const NestLoop& loop) {  // its iterations run serially, or each has a copy
      const bool axis = IsBlockAxis(loop.kind) || IsThreadAxis(loop.kind);
      if (axis) return loop.extent == 1 || IsPrivate(accesses_[placed.first].buffer, loop);
      return loop.extent == 1 || loop.kind != LoopKind::kVectorized;
    };
    while (home < shared && may_hold(loops_[path[home]])) ++home;
    placed.home = static_cast<int32_t>(home);
    if (home > 0) placed.home_loop = path[home - 1];
  }
  placed.elements = 1;
  const Id buffer = accesses_[placed.first].buffer;
  const auto kinds = program_->List(program_->buffers[buffer].layout.kinds);
  for (int axis = accesses_[placed.first].axes.count; axis-- > 0;) {
    const int64_t size =
        temporary ? PlaceAxis(placed, axis) : axes_[accesses_[placed.first].axes.begin + axis].size;
    const AxisKind kind = kinds.empty() ? AxisKind::kAddress : static_cast<AxisKind>(kinds[axis]);
    const bool spread = kind == AxisKind::kLane || kind == AxisKind::kWarp;  // over the registers of lanes
    for (int32_t a = placed.first; a >= 0; a = accesses_[a].next)
      axes_[accesses_[a].axes.begin + axis].stride = spread ? 0 : placed.elements;
    if (!spread) placed.elements *= size;
  }
}

// True if the loop is on an axis and each of its iterations has its own copy of the buffer.
bool LoopNestSummary::IsPrivate(Id buffer, const NestLoop& loop) const {
  return loop.extent > 1 && (IsBlockAxis(loop.kind) || IsThreadAxis(loop.kind)) &&
         IsPrivateTo(*program_, buffer, loop.node);
}

// Compacts one axis of a buffer and returns its new size: removes the terms of loops around the allocation, and of axes
// whose iterations have their own copies (compared by kind and extent). Returns the old size if no access has such
// terms, if accesses differ in them, if more than the written rest is read, or if the size would not shrink.
int64_t LoopNestSummary::PlaceAxis(const NestBuffer& placed, int axis) {
  const Id buffer = accesses_[placed.first].buffer;
  const auto outside = [&](const NestTerm& t) {
    return loops_[t.loop].depth < placed.home || IsPrivate(buffer, loops_[t.loop]);
  };
  const int64_t full = axes_[accesses_[placed.first].axes.begin + axis].size;
  uint64_t base = 0;
  bool same = true;
  Interval read{INT64_MAX, INT64_MIN}, written{INT64_MAX, INT64_MIN};
  for (int32_t a = placed.first; a >= 0; a = accesses_[a].next) {
    const NestAxis& x = axes_[accesses_[a].axes.begin + axis];
    uint64_t hash = 0;
    Interval rest{x.offset + x.digits.min, x.offset + x.digits.max};
    same &= x.exact || x.bounded;
    for (NestTerm t : terms(x)) {
      if (outside(t)) {
        same &= !t.guess;
        const NestLoop& loop = loops_[t.loop];
        if (loop.depth >= placed.home) t.loop = -1 - static_cast<int32_t>(loop.kind);
        hash += Hash(t) + (loop.depth < placed.home ? 0 : static_cast<uint64_t>(loop.extent));
      } else if (!t.guess) {
        const int64_t reach = t.scale * (t.values - 1);
        (reach < 0 ? rest.min : rest.max) += reach;
      }
    }
    if (a == placed.first) base = hash;
    same &= hash == base;
    Interval& sum = accesses_[a].writes ? written : read;
    sum = {std::min(sum.min, rest.min), std::max(sum.max, rest.max)};
  }
  const int64_t size = written.max - written.min + 1;
  if (!same || base == 0 || written.min > read.min || written.max < read.max || size >= full) return full;
  for (int32_t a = placed.first; a >= 0; a = accesses_[a].next) {
    NestAxis& x = axes_[accesses_[a].axes.begin + axis];
    NestTerm* first = terms_.data() + x.terms.begin;
    x.terms.count = static_cast<int32_t>(std::remove_if(first, first + x.terms.count, outside) - first);
    x.offset -= written.min;
    x.size = size;
  }
  return size;
}

}  // namespace kiln
