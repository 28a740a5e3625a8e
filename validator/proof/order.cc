// Checks the proof obligations on order: elements are read only when they have their values.
#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "lang/analysis/bindings.h"
#include "lang/program/layout.h"
#include "validator/proof/algebra.h"
#include "validator/proof/obligations.h"
#include "validator/proof/pairs.h"

namespace kiln::proof {
namespace {

std::vector<int64_t> ValuesAt(const std::vector<IndexSum>& sums, const std::vector<int64_t>& point) {
  std::vector<int64_t> values;
  for (const IndexSum& sum : sums) values.push_back(Evaluate(sum, [&](Source s) { return point[s.id]; }));
  return values;
}

}  // namespace

Obligations::Obligations(Decider& decider, Comparison& comparison, const Model& model, const Model& reference)
    : decider_(decider), comparison_(comparison), model_(model), reference_(reference), p_(model.program()) {
  for (const Id block : model.spaces().blocks()) {
    std::vector<Range> within;
    std::set<Id> seen;
    for (const Range list : {p_.block(block).values, p_.block(block).initial}) {
      for (const Id expr : p_.List(list)) CollectReads(block, expr, within, seen, reads_);
    }
  }
}

void Obligations::CollectReads(Id block, Id expr, std::vector<Range>& within, std::set<Id>& seen,
                               std::vector<Read>& reads) const {
  if (!seen.insert(expr).second) return;
  const Expr& e = p_.exprs[expr];
  if (e.op == Op::kLoad) {
    const auto [buffer, index] = e.AsLoad();
    if (model_.IsWritten(buffer)) reads.push_back({block, buffer, index, within, false});
    return;
  }
  if (e.op == Op::kGather && model_.IsWritten(e.AsGather().buffer))
    reads.push_back({block, e.AsGather().buffer, {}, within, true});
  for (const Id& operand : e.Operands()) {
    const bool guarded = e.op == Op::kWithin && &operand == e.Operands().data();
    if (guarded) within.push_back(e.AsWithin().marks);
    std::set<Id> inside;
    CollectReads(block, operand, within, guarded ? inside : seen, reads);
    if (guarded) within.pop_back();
  }
}

std::string Obligations::BlockText(Id block) const {
  return absl::StrCat("block \"", p_.Text(p_.block(block).name), "\"");
}

std::string Obligations::At(Id block, const Reply& reply) const {
  const Space& space = model_.spaces().of(block);
  if (reply.point.size() < space.points.variables.size()) return "";
  const std::vector<int64_t> values = ValuesAt(space.iters, reply.point);
  std::vector<std::string> parts;
  for (size_t i = 0; i < values.size(); ++i)
    parts.push_back(absl::StrCat(p_.Text(p_.Iters(p_.block(block).iters)[i].name), "=", values[i]));
  return absl::StrCat(" at (", absl::StrJoin(parts, ", "), ")");
}

Finding Obligations::Fail(const Reply& reply, std::string why) const {
  return {reply.answer, std::move(why), reply.point};
}

bool Obligations::Runs(const Unit& unit, Id block) const {
  const int at = model_.spaces().place(block).begin;
  return unit.stretch.begin <= at && at < unit.stretch.end;
}

Relation Obligations::Written(const Writer& writer, size_t around) const {
  const Space& space = model_.spaces().of(writer.block);
  Relation relation{space.points, {space.at.begin(), space.at.begin() + static_cast<int64_t>(around)}};
  const auto index = IndicesAt(p_, writer.block, model_.Dest(writer).index, relation.points, space.iters);
  relation.results.insert(relation.results.end(), index->begin(), index->end());
  return relation;
}

Finding Obligations::Check() {
  if (model_.problem().has_value()) return {Answer::kUnknown, *model_.problem(), {}};
  for (Id b = 0; b < static_cast<Id>(p_.buffers.size()); ++b) {
    Finding finding = Values(b);
    if (finding.answer == Answer::kYes) finding = Layout(b);
    if (finding.answer != Answer::kYes) return finding;
  }
  for (Id b = 0; b < static_cast<Id>(p_.buffers.size()); ++b) {
    for (const Unit& unit : model_.units(b)) {
      if (!unit.reduces) continue;
      Finding finding = Parallel(b, unit);
      if (finding.answer != Answer::kYes) return finding;
      for (const Unit& other : model_.units(b)) {
        for (const Writer& w : other.writers) {
          if (&unit != &other && Runs(unit, w.block))
            return {Answer::kUnknown,
                    absl::StrCat("reductions into ", p_.Text(p_.buffers[b].name), " overlap"),
                    {}};
        }
      }
    }
  }
  for (size_t i = 0; i < incomplete_.size(); ++i) {
    Finding finding = Parallel(incomplete_buffers_[i], incomplete_[i]);
    if (finding.answer != Answer::kYes) return finding;
  }
  for (const Id block : model_.spaces().blocks()) {
    Finding finding = StartsAfterWhatItReads(block);
    if (finding.answer != Answer::kYes) return finding;
  }
  for (const Read& read : reads_) {
    Finding finding = Reads(read);
    if (finding.answer != Answer::kYes) return finding;
  }
  return Pipelines();
}

// Checks that no block writes the initial values of a reduction inside the outermost loop that feeds the reduction,
// since they are read when this loop is entered.
Finding Obligations::StartsAfterWhatItReads(Id block) const {
  const BlockNode& b = p_.block(block);
  if (b.monoid == kNone || b.accumulates || b.initial.count == 0) return {};
  const std::vector<Id> loops = LoopsAround(p_, block);
  const std::vector<bool> reduces = Feeds(p_, block, IterKind::kReduction);
  const auto outermost = std::find(reduces.begin(), reduces.end(), true);
  if (outermost == reduces.end()) return {};
  const Id loop = loops[outermost - reduces.begin()];
  std::vector<Range> within;
  std::set<Id> seen;
  std::vector<Read> reads;
  for (const Id expr : p_.List(b.initial)) CollectReads(block, expr, within, seen, reads);
  for (const Read& read : reads) {
    for (const Unit& unit : model_.units(read.buffer)) {
      for (const Writer& w : unit.writers) {
        if (!Below(loop, w.block)) continue;
        return {Answer::kUnknown,
                absl::StrCat(BlockText(block), " starts from ", p_.Text(p_.buffers[read.buffer].name),
                             ", which is written in a loop that it starts before"),
                {}};
      }
    }
  }
  return {};
}

// Returns the elements that a writer has written before the read: in the same iteration of the first k
// common loops, and in an earlier iteration of the next common loop, if there is one. The results begin with
// the read's iterations of the first `shared` loops.
Relation Obligations::WrittenBefore(const Writer& w, const Read& read, size_t shared, size_t k) const {
  const Spaces& spaces = model_.spaces();
  const size_t common = spaces.Common(w.block, read.block);
  Relation relation = Written(w, 0);
  std::vector<IndexSum> around;
  for (size_t l = 0; l < shared; ++l) {
    const int64_t extent = p_.loop(spaces.of(read.block).loops[l]).extent.Known();
    if (l < k) {
      around.push_back(spaces.of(w.block).at[l]);
    } else if (l == k && k < common) {  // any iteration after the write
      IndexSum after = spaces.of(w.block).at[l] + relation.points.Add(extent);
      after.offset += 1;
      around.push_back(after);
    } else {
      around.push_back(relation.points.Add(extent));
    }
  }
  relation.results.insert(relation.results.begin(), around.begin(), around.end());
  return relation;
}

Finding Obligations::Reads(const Read& read) {
  const Spaces& spaces = model_.spaces();
  const Space& space = spaces.of(read.block);
  std::vector<Writer> writers;
  for (const Unit& unit : model_.units(read.buffer))
    writers.insert(writers.end(), unit.first().begin(), unit.first().end());
  size_t shared = 0;
  for (const Writer& w : writers) shared = std::max(shared, spaces.Common(w.block, read.block));
  Relation wanted{space.points, {space.at.begin(), space.at.begin() + static_cast<int64_t>(shared)}};
  for (const Range marks : read.within) {
    const auto conditions = ConditionsAt(p_, read.block, marks, wanted.points, space.iters);
    for (const Condition& c : *conditions) wanted.points = With(wanted.points, c.value, c.extent);
  }
  auto index = IndicesAt(p_, read.block, read.index, wanted.points, space.iters);
  if (read.gathers) {
    index->clear();
    for (const Extent& e : p_.Dims(p_.buffers[read.buffer].shape))
      index->push_back(wanted.points.Add(e.Known()));
  }
  if (!index.has_value()) return {Answer::kUnknown, "an index divides a number that may be negative", {}};
  for (const Unit& unit : model_.units(read.buffer)) {
    if (!unit.reduces || !Runs(unit, read.block)) continue;
    Finding finding = Complete(read, wanted.points, *index, unit);
    if (finding.answer != Answer::kYes) return finding;
  }
  for (size_t i = 0; i < incomplete_.size(); ++i) {
    if (incomplete_buffers_[i] != read.buffer || !Runs(incomplete_[i], read.block)) continue;
    Finding finding = Complete(read, wanted.points, *index, incomplete_[i]);
    if (finding.answer != Answer::kYes) return finding;
  }
  wanted.results.insert(wanted.results.end(), index->begin(), index->end());

  // Shows that every element was written before it is read. Tries the writes in the same iterations of the common loops
  // first, and then adds those in earlier iterations.
  const size_t anew = Anew(read.buffer, read.block);
  std::vector<Relation> made;
  Reply reply;
  for (const bool earlier : {false, true}) {
    for (const Writer& w : writers) {
      const size_t common = spaces.Common(w.block, read.block);
      const bool before = spaces.Before(w.block, read.block);
      if (!earlier && !before) continue;
      for (size_t k = earlier ? anew : common; k < (earlier ? common : common + 1); ++k) {
        if (k < common && MayRunAtOnce(p_.loop(space.loops[k]).kind)) continue;
        made.push_back(WrittenBefore(w, read, shared, k));
      }
    }
    if (made.empty()) continue;
    reply = decider_.Covers(wanted, made);
    if (reply.answer == Answer::kYes) return {};
  }
  std::string element(p_.Text(p_.buffers[read.buffer].name));
  if (!reply.point.empty())
    element = absl::StrCat(element, "[", absl::StrJoin(ValuesAt(*index, reply.point), ", "), "]");
  return Fail(reply, absl::StrCat(BlockText(read.block), At(read.block, reply),
                                  reply.answer == Answer::kNo ? " reads " : " may read ", element,
                                  " before it is written"));
}

// Checks that an element is complete when it is read: no block of the unit that computes the element writes it later,
// in the same iteration of the loops around the unit.
Finding Obligations::Complete(const Read& read, const Points& points, const std::vector<IndexSum>& index,
                              const Unit& unit) {
  const Spaces& spaces = model_.spaces();
  const Space& space = spaces.of(read.block);
  std::vector<Writer> writers = unit.writers;
  writers.insert(writers.end(), unit.starters.begin(), unit.starters.end());
  for (const Writer& w : writers) {
    const size_t common = spaces.Common(w.block, read.block);
    Relation now{points, {space.at.begin(), space.at.begin() + static_cast<int64_t>(common)}};
    now.results.insert(now.results.end(), index.begin(), index.end());
    Pairs pairs(now, Written(w, common), common);
    for (size_t l = 0; l <= common; ++l) {
      if (l >= unit.around) {
        std::vector<Points> later;
        if (l == common) {
          if (!spaces.Before(w.block, read.block)) later.push_back(pairs.points());
        } else {
          const LoopNode& loop = p_.loop(space.loops[l]);
          later.push_back(pairs.Later(l, loop.extent.Known()));
          if (MayRunAtOnce(loop.kind)) later.push_back(pairs.Earlier(l, loop.extent.Known()));
        }
        for (const Points& some : later) {
          Reply reply = decider_.Empty(some);
          if (reply.answer != Answer::kYes)
            return Fail(reply, absl::StrCat(BlockText(read.block), At(read.block, reply), " reads ",
                                            p_.Text(p_.buffers[read.buffer].name), " before it is complete"));
        }
      }
      if (l < common) pairs.Equate(l);
    }
  }
  return {};
}

bool Obligations::Below(Id node, Id block) const {
  const Stretch& inside = model_.spaces().place(node);
  const int at = model_.spaces().place(block).begin;
  return inside.begin <= at && at < inside.end;
}

bool Obligations::IsPrivate(Id buffer, Id loop) const {
  if (p_.buffers[buffer].role != Role::kTemporary) return false;
  const auto below = [&](Id block) { return Below(loop, block); };
  for (const Unit& unit : model_.units(buffer)) {
    for (const std::vector<Writer>* list : {&unit.writers, &unit.starters}) {
      for (const Writer& w : *list) {
        if (!below(w.block)) return false;
      }
    }
  }
  return std::all_of(reads_.begin(), reads_.end(),
                     [&](const Read& r) { return r.buffer != buffer || below(r.block); });
}

// Checks that a single iteration of each loop whose iterations may run at once computes an element. Excepts loops
// inside of a reduction that combine partial results, and other loops whose iterations have private copies.
Finding Obligations::Parallel(Id buffer, const Unit& unit) {
  std::vector<Writer> writers = unit.writers;
  writers.insert(writers.end(), unit.starters.begin(), unit.starters.end());
  for (const Writer& writer : writers) {
    const Space& space = model_.spaces().of(writer.block);
    for (size_t l = 0; l < space.loops.size(); ++l) {
      const Id loop = space.loops[l];
      const LoopKind kind = p_.loop(loop).kind;
      if (!MayRunAtOnce(kind) || p_.loop(loop).extent.Known() == 1) continue;
      const bool within = l >= unit.around;
      const bool reduced = within && unit.reduces;  // each lane reduces its part and the lanes are combined
      if (reduced ? Combines(kind) : IsPrivate(buffer, loop)) continue;
      if (within && writers.size() > 1 && std::count_if(writers.begin(), writers.end(), [&](const Writer& w) {
                                            const std::vector<Id>& around = model_.spaces().of(w.block).loops;
                                            return l < around.size() && around[l] == loop;
                                          }) > 1)
        return {Answer::kUnknown, "a parallel loop runs several parts of one reduction", {}};
      Relation relation = Written(writer, l);
      const Reply reply = decider_.Determines({relation}, {{space.at[l]}});
      if (reply.answer != Answer::kYes)
        return Fail(reply, absl::StrCat("iterations of loop ", p_.Text(p_.loop(loop).name), ", which is ",
                                        ToString(kind), ", make the same element in ",
                                        BlockText(writer.block), At(writer.block, reply)));
    }
  }
  return {};
}

Finding Obligations::Layout(Id buffer) {
  const Buffer& b = p_.buffers[buffer];
  const Swizzle s = b.layout.swizzle;
  if (!IsOneToOne(s, LayoutElements(p_, buffer)))
    return {Answer::kUnknown, absl::StrCat("the swizzle of ", p_.Text(b.name), " is not one to one"), {}};
  if (b.layout.axes.count == 0 || !model_.IsWritten(buffer)) return {};
  Relation places;
  std::vector<IndexSum> index;
  for (const Extent& e : p_.Dims(b.shape)) index.push_back(places.points.Add(e.Known()));
  for (const Id axis : p_.List(b.layout.axes)) {
    const auto place = Replace(
        places.points, p_.SumOf(axis), [&](Source s) { return index[s.id]; },
        [&](Source s) { return p_.Dims(b.shape)[s.id].Known(); });
    if (!place.has_value()) return {Answer::kUnknown, "a layout divides a number that may be negative", {}};
    places.results.push_back(*place);
  }
  const Reply reply = decider_.Determines({places}, {index});
  if (reply.answer == Answer::kYes) return {};
  return Fail(reply, absl::StrCat("elements of ", p_.Text(b.name), " share a place"));
}

Finding SameOutputs(Decider& decider, const Model& made, const Model& original) {
  const auto relations = [](const Model& model, Id buffer) {
    std::vector<Relation> written;
    for (const Unit& unit : model.units(buffer)) {
      for (const Writer& w : unit.first()) {
        const Space& space = model.spaces().of(w.block);
        Relation relation{space.points, {}};
        relation.results =
            *IndicesAt(model.program(), w.block, model.Dest(w).index, relation.points, space.iters);
        written.push_back(relation);
      }
    }
    return written;
  };
  for (const Id buffer : original.program().parameters) {
    if (original.program().buffers[buffer].role != Role::kOutput) continue;
    const std::vector<Relation> one = relations(made, buffer), other = relations(original, buffer);
    for (const bool missing : {true, false}) {
      for (const Relation& relation : missing ? other : one) {
        const Reply reply = decider.Covers(relation, missing ? one : other);
        if (reply.answer == Answer::kYes) continue;
        std::string element(original.program().Text(original.program().buffers[buffer].name));
        if (!reply.point.empty())
          element =
              absl::StrCat(element, "[", absl::StrJoin(ValuesAt(relation.results, reply.point), ", "), "]");
        return {reply.answer,
                absl::StrCat(element, missing ? " is never written" : " is written, and was not"),
                {}};
      }
    }
  }
  return {};
}

}  // namespace kiln::proof
