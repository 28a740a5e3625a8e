// Checks the proof obligations on values: every element that a block writes gets the value that the original defines.
#include "absl/strings/str_cat.h"
#include "validator/proof/algebra.h"
#include "validator/proof/obligations.h"

namespace kiln::proof {

Look Obligations::Wanted(Id buffer, const std::vector<IndexSum>& index, const Value& writer) const {
  const bool shared = buffer < static_cast<Id>(reference_.program().buffers.size());
  Look look;
  look.kind = Look::Kind::kElement;
  look.value = writer;
  look.value.model = shared ? &reference_ : &model_;
  look.buffer = buffer;
  look.index = index;
  return look;
}

Finding Obligations::Values(Id buffer) {
  for (const Unit& unit : model_.units(buffer)) {
    Finding finding = unit.reduces ? ReducedValues(buffer, unit) : StoredValues(buffer, unit);
    if (finding.answer != Answer::kYes) return finding;
    if (!unit.reduces) continue;
    finding = Instances(unit);
    if (finding.answer != Answer::kYes) return finding;
  }
  return {};
}

// Checks the elements that one writer of a unit stores at the points. An element that no writer from number `later` on
// stores to must get the wanted value. All other elements must be overwritten by a later writer, in the same iterations
// of the loops around the whole unit.
Finding Obligations::Overwritten(const Unit& unit, size_t writer, Points points, size_t later,
                                 const Look& wanted) {
  const Writer& own = unit.writers[writer];
  if (later == unit.writers.size()) {
    const Value value{&model_, own.block, p_.List(p_.block(own.block).values)[own.result],
                      wanted.value.iters};
    return comparison_.Same(points, value, wanted);
  }
  std::vector<Condition> open;
  const auto iters = ItersOf(decider_, points, model_, unit.writers[later], wanted.index, &open);
  auto exists = iters.has_value() ? Exists(points, model_, unit.writers[later].block, *iters) : std::nullopt;
  if (!exists.has_value())
    return {Answer::kUnknown, "the index at which a block overwrites cannot be inverted", {}};
  exists->insert(exists->end(), open.begin(), open.end());
  for (const Condition& c : *exists) {
    for (const Points& part : Without(points, c.value, c.extent)) {
      if (decider_.Empty(part).answer == Answer::kYes) continue;
      Finding finding = Overwritten(unit, writer, part, later + 1, wanted);
      if (finding.answer != Answer::kYes) return finding;
    }
    points = With(points, c.value, c.extent);
  }
  Unit whole;
  model_.Enclose(unit.writers, whole);
  const Space& space = model_.spaces().of(own.block);
  Relation here{points, {space.at.begin(), space.at.begin() + static_cast<int64_t>(whole.around)}};
  here.results.insert(here.results.end(), wanted.index.begin(), wanted.index.end());
  std::vector<Relation> others;
  for (size_t w = writer + 1; w < unit.writers.size(); ++w)
    others.push_back(Written(unit.writers[w], whole.around));
  const Reply reply = decider_.Covers(here, others);
  return reply.answer == Answer::kYes
             ? Finding()
             : Finding{reply.answer,
                       absl::StrCat(BlockText(own.block), " stores another value", At(own.block, reply)),
                       {}};
}

Finding Obligations::StoredValues(Id buffer, const Unit& unit) {
  bool overwrites = false;
  for (size_t w = 0; w < unit.writers.size(); ++w) {
    const Writer& writer = unit.writers[w];
    const Value value{&model_, writer.block, p_.List(p_.block(writer.block).values)[writer.result], nullptr};
    Finding finding;
    // Tries to prove that the block stores the wanted value, first for all iters in the block's box, then only for the
    // iters of its instances.
    for (const bool exact : {false, true}) {
      const Space& space = model_.spaces().of(writer.block);
      Points points = exact ? space.points : BoxOf(p_, writer.block);
      std::vector<IndexSum> iters = space.iters;
      for (size_t i = 0; i < iters.size() && !exact; ++i)
        iters[i] = IndexSum::Of(Source::Iter(static_cast<int32_t>(i)));
      Value here = value;
      here.iters = std::make_shared<std::vector<IndexSum>>(iters);
      const auto index = IndicesAt(p_, writer.block, model_.Dest(writer).index, points, iters);
      if (!index.has_value()) return {Answer::kUnknown, "an index divides a number that may be negative", {}};
      finding = comparison_.Same(points, here, Wanted(buffer, *index, here));
      if (finding.answer == Answer::kYes) break;
    }
    if (finding.answer == Answer::kYes) continue;
    if (w + 1 == unit.writers.size()) {
      finding.why = absl::StrCat(BlockText(writer.block), ": ", finding.why);
      return finding;
    }
    const Space& space = model_.spaces().of(writer.block);
    Points points = space.points;
    Value here = value;
    here.iters = std::make_shared<std::vector<IndexSum>>(space.iters);
    const auto index = IndicesAt(p_, writer.block, model_.Dest(writer).index, points, space.iters);
    finding = Overwritten(unit, w, points, w + 1, Wanted(buffer, *index, here));
    if (finding.answer != Answer::kYes) return finding;
    overwrites = true;
  }
  if (overwrites) {
    Unit whole = unit;
    model_.Enclose(unit.writers, whole);
    incomplete_.push_back(whole);
    incomplete_buffers_.push_back(buffer);
  }
  return {};
}

Finding Obligations::ReducedValues(Id buffer, const Unit& unit) {
  const Writer& writer = unit.writers[0];
  const Space& space = model_.spaces().of(writer.block);
  Finding finding;
  for (const bool exact : {false, true}) {
    Points points = space.points;
    std::vector<IndexSum> iters = space.iters;
    if (!exact) {
      points = Points();
      const auto own = p_.Iters(p_.block(writer.block).iters);
      for (size_t i = 0; i < iters.size(); ++i)
        iters[i] = own[i].kind == IterKind::kSpatial ? points.Add(own[i].extent.Known()) : IndexSum();
    }
    Look look;
    look.kind = Look::Kind::kReduction;
    look.buffer = buffer;
    look.unit = &unit;
    look.value = {&model_, writer.block, p_.List(p_.block(writer.block).values)[writer.result],
                  std::make_shared<std::vector<IndexSum>>(iters)};
    const auto index = IndicesAt(p_, writer.block, model_.Dest(writer).index, points, iters);
    if (!index.has_value()) return {Answer::kUnknown, "an index divides a number that may be negative", {}};
    finding = comparison_.Same(points, look, Wanted(buffer, *index, look.value));
    if (finding.answer == Answer::kYes) return finding;
  }
  return finding;
}

// Checks that each instance of a reduction contributes to an element exactly once in each iteration of the loops around
// the whole reduction (at least once if the operation is idempotent), and only to elements that are initialized.
Finding Obligations::Instances(const Unit& unit) {
  const Monoid& monoid = p_.monoids[p_.block(unit.writers[0].block).monoid];
  std::vector<Relation> entered, updates, starts;
  std::vector<std::vector<IndexSum>> inner;
  for (const Writer& writer : unit.writers) {
    const Space& space = model_.spaces().of(writer.block);
    updates.push_back(Written(writer, unit.around));
    Relation once{space.points, {space.at.begin(), space.at.begin() + static_cast<int64_t>(unit.around)}};
    once.results.insert(once.results.end(), space.iters.begin(), space.iters.end());
    entered.push_back(once);
    inner.emplace_back(space.at.begin() + static_cast<int64_t>(unit.around), space.at.end());
  }
  if (!monoid.idempotent) {
    const Reply once = decider_.Determines(entered, inner);
    if (once.answer != Answer::kYes)
      return Fail(once, absl::StrCat("an instance of ", BlockText(unit.writers[0].block), " enters twice",
                                     unit.writers.size() == 1 ? At(unit.writers[0].block, once) : ""));
  }
  for (const Writer& starter : unit.starters) starts.push_back(Written(starter, unit.around));
  for (size_t w = 0; w < unit.writers.size() && !starts.empty(); ++w) {
    const Reply started = decider_.Covers(updates[w], starts);
    if (started.answer != Answer::kYes)
      return Fail(started,
                  absl::StrCat(BlockText(unit.writers[w].block), " combines into what is not initialized",
                               At(unit.writers[w].block, started)));
  }
  // Checks that all instances of the reduction run for each element that is initialized.
  const auto own = p_.Iters(p_.block(unit.writers[0].block).iters);
  for (size_t w = 0; w < unit.writers.size(); ++w) {
    for (size_t i = 0; i < own.size(); ++i) {
      if (own[i].kind == IterKind::kReduction)
        updates[w].results.push_back(model_.spaces().of(unit.writers[w].block).iters[i]);
    }
  }
  for (const Writer& first : unit.first()) {
    Relation wanted = Written(first, unit.around);
    const std::vector<IndexSum> element(wanted.results.begin() + static_cast<int64_t>(unit.around),
                                        wanted.results.end());
    auto iters = ItersOf(decider_, wanted.points, model_, unit.writers[0], element);
    if (!iters.has_value()) return {Answer::kUnknown, "the index of a reduction cannot be inverted", {}};
    for (size_t i = 0; i < own.size(); ++i) {
      if (own[i].kind == IterKind::kReduction)
        wanted.results.push_back((*iters)[i] = wanted.points.Add(own[i].extent.Known()));
    }
    const Id block = unit.writers[0].block;
    const auto domain = ConditionsAt(p_, block, p_.block(block).domain, wanted.points, *iters);
    if (!domain.has_value()) return {Answer::kUnknown, "a domain divides a number that may be negative", {}};
    for (const Condition& c : *domain) wanted.points = With(wanted.points, c.value, c.extent);
    const Reply all = decider_.Covers(wanted, updates);
    if (all.answer != Answer::kYes)
      return Fail(all,
                  absl::StrCat("an instance of ", BlockText(block), " never enters", At(first.block, all)));
  }
  return {};
}

}  // namespace kiln::proof
