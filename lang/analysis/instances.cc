#include "lang/analysis/instances.h"

#include <algorithm>
#include <set>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "lang/analysis/bindings.h"
#include "lang/analysis/dataflow.h"
#include "lang/analysis/placement.h"
#include "lang/base/defect.h"

namespace kiln {
namespace {

struct Digit {
  Source source;          // a loop or a mark
  int64_t lower, extent;  // extent 0: no remainder is taken
};

// Adds the digits of `loops`, such as (i / 4) % 8, that the value of a sum determines. The terms of `loops` must form a
// mixed-radix number: the scale of each exceeds what all smaller terms add together, plus `reach`, by which an unknown
// rest may change the value. Adds nothing if they do not. If the sum contains a mark, adds nothing, or with `marks`
// counts the mark as one of the loops.
void AddDigits(const IndexSum& sum, const std::vector<Id>& loops, const Extents& extents, int64_t reach,
               std::vector<Digit>& digits, bool marks = false) {
  absl::InlinedVector<IndexSplit, 8> terms;
  for (const IndexSplit& s : sum.splits) {
    if (s.source.kind == Source::Kind::kMark) {
      if (!marks) return;
      terms.push_back(s);
    } else if (s.source.kind == Source::Kind::kLoop &&
               std::find(loops.begin(), loops.end(), s.source.id) != loops.end()) {
      terms.push_back(s);
    }
  }
  std::sort(terms.begin(), terms.end(),
            [](const IndexSplit& a, const IndexSplit& b) { return std::abs(a.scale) < std::abs(b.scale); });
  for (const IndexSplit& s : terms) {
    if (std::abs(s.scale) <= reach) return;
    reach += std::abs(s.scale) * (SplitRange(s, extents) - 1);
  }
  for (const IndexSplit& s : terms) digits.push_back({s.source, s.lower, s.extent});
}

std::vector<Digit> DigitsOf(const Program& p, const std::vector<IndexSum>& sums, const std::vector<Id>& loops,
                            bool marks = false) {
  const Extents extents(p);
  std::vector<Digit> digits;
  digits.reserve(8);
  for (const IndexSum& sum : sums) AddDigits(sum, loops, extents, 0, digits, marks);
  return digits;
}

// True if the digits determine the value of the source, which is less than `extent`.
bool Covered(Source source, int64_t extent, const std::vector<Digit>& digits) {
  int64_t known = 1;  // the value modulo `known` is determined
  for (bool more = true; more && known < extent;) {
    more = false;
    for (const Digit& d : digits) {
      if (d.source != source || known % d.lower != 0) continue;
      const int64_t reach = d.extent == 0 ? extent : d.lower * d.extent;
      if (reach > known) {
        known = reach;
        more = true;
      }
    }
  }
  return known >= extent || KILN_DEFECT("instances.distinct");
}

bool AreCovered(const Program& p, const std::vector<Id>& loops, const std::vector<Digit>& digits) {
  const Extents extents(p);
  return absl::c_all_of(
      loops, [&](Id loop) { return Covered(Source::Loop(loop), extents(Source::Loop(loop)), digits); });
}

// For each mark whose value `digits` determine, adds the digits of the sum that the mark stands for, and so on for the
// marks in that sum. This relies on each mark lying within its extent where an instance runs.
void AddDigitsOfMarks(const Program& p, const std::vector<Id>& loops, std::vector<Digit>& digits) {
  Resolver resolver(p);
  std::set<Source> known;
  for (size_t d = 0; d < digits.size(); ++d) {
    const Source mark = digits[d].source;
    if (mark.kind != Source::Kind::kMark || !Covered(mark, resolver.extents()(mark), digits)) continue;
    if (known.insert(mark).second)
      AddDigits(resolver.Resolve(mark.id), loops, resolver.extents(), 0, digits, /*marks=*/true);
  }
}

}  // namespace

bool Determine(const Program& program, const std::vector<IndexSum>& sums, const std::vector<Id>& loops) {
  return AreCovered(program, loops, DigitsOf(program, sums, loops));
}

bool WritesElementsOnce(const Program& p, Id block, Id buffer, Id fixed) {
  if (p.block(block).monoid != kNone || EnclosingBlock(p, block) != kNone) return false;
  const auto iters = p.Iters(p.block(block).iters);
  std::set<int32_t> told;  // iters each of which alone is an index of the result
  for (const Access& dest : p.Accesses(p.block(block).dests)) {
    if (dest.buffer != buffer) continue;
    if (!told.empty()) return false;
    for (const Id mark : p.List(dest.index)) {
      const IndexSum index = p.SumOf(mark);
      if (index.splits.size() == 1 && index == IndexSum::Of(index.splits[0].source) &&
          index.splits[0].source.kind == Source::Kind::kIter)
        told.insert(index.splits[0].source.id);
    }
  }
  for (int32_t i = 0; i < std::ssize(iters); ++i)
    if (iters[i].extent.UpperBound() > 1 && !told.contains(i)) return false;
  std::vector<Id> loops = LoopsAround(p, block);
  std::erase_if(loops,
                [&](Id loop) { return IsAncestor(p, loop, fixed) || p.loop(loop).extent.UpperBound() == 1; });
  std::vector<Digit> digits = DigitsOf(p, ResolveBindings(p, block).iters, loops, /*marks=*/true);
  AddDigitsOfMarks(p, loops, digits);
  return AreCovered(p, loops, digits);
}

bool DistinctInstances(const Program& program, Id block, const std::vector<Id>& loops) {
  return Determine(program, ResolveBindings(program, block).iters, loops);
}

bool TellsApart(const Program& program, Id block, Id loop) {
  if (program.nodes[block].parent == loop) {
    for (const Iter& iter : program.Iters(program.block(block).iters)) {
      if (StepOf(program, EnclosingBlock(program, block), iter.binding, loop).value_or(0) != 0) return true;
    }
  }
  std::vector<Id> loops = LoopsAround(program, block);
  loops.erase(loops.begin(), std::find(loops.begin(), loops.end(), loop));
  if (loops.empty()) return false;
  return AreCovered(program, {loop}, DigitsOf(program, ResolveBindings(program, block).iters, loops));
}

bool TellsApart(const Program& program, const std::vector<DimRange>& ranges, const std::vector<Id>& loops) {
  const Extents extents(program, EnclosingBlock(program, loops.front()));
  std::vector<Digit> digits;
  for (const DimRange& range : ranges) AddDigits(range.base, loops, extents, range.extent - 1, digits);
  return AreCovered(program, {loops.front()}, digits);
}

bool RunsAllInstances(const Program& program, Id block) {
  const Bindings bindings = ResolveBindings(program, block);
  const auto iters = program.Iters(program.block(block).iters);
  std::set<Id> loops;
  for (size_t i = 0; i < iters.size(); ++i) {
    IndexSum sum = bindings.iters[i];
    if (!iters[i].extent.constant() || sum.offset != 0) return false;
    absl::c_sort(sum.splits, [](const IndexSplit& a, const IndexSplit& b) { return a.scale < b.scale; });
    int64_t most = 0;  // all values from 0 on to this one occur
    for (const IndexSplit& s : sum.splits) {
      const bool whole = s.source.kind == Source::Kind::kLoop && s.lower == 1 && s.extent == 0;
      if (!whole || s.scale < 1 || s.scale > most + 1 || !loops.insert(s.source.id).second) return false;
      if (!program.loop(s.source.id).extent.constant()) return false;
      most += s.scale * (program.loop(s.source.id).extent.Known() - 1);
    }
    if (most < iters[i].extent.Known() - 1) return false;
  }
  return absl::c_all_of(bindings.guards, [&](const Guard& guard) {
    for (size_t i = 0; i < iters.size(); ++i)
      if (guard.value == bindings.iters[i] && guard.extent >= iters[i].extent.Known()) return true;
    return false;
  });
}

absl::Status CheckReducesOnce(const Program& program, Id block, const std::vector<Id>& loops) {
  if (DistinctInstances(program, block, loops)) return absl::OkStatus();
  return absl::FailedPreconditionError(
      absl::StrCat("the loops from ", Describe(program, loops.front()), " on may run an instance of ",
                   Describe(program, block), " more than once, which its reduction would count twice"));
}

size_t ReductionStart(const Program& program, Id block) {
  const std::vector<bool> feeds = Feeds(program, block, IterKind::kReduction);
  return std::find(feeds.begin(), feeds.end(), true) - feeds.begin();
}

}  // namespace kiln
