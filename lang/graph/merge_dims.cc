#include "lang/graph/merge_dims.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "lang/analysis/bindings.h"
#include "lang/analysis/dataflow.h"
#include "lang/graph/densify_strided_reads.h"
#include "lang/graph/forward_copies.h"
#include "lang/graph/outline.h"
#include "lang/program/expr_copier.h"

namespace kiln {
namespace {

using Pair = std::pair<Id, int>;  // (block, i): its iters i and i + 1; or (buffer, d): dimensions d and d + 1

// True if the block is alone in its nest and has one loop of the same extent for each iter.
bool HasOwnNest(const Program& p, Id block) {
  if (p.nodes[block].first != kNone) return false;
  std::set<Id> loops;
  for (const Iter& iter : p.Iters(p.block(block).iters)) {
    const IndexSum binding = p.SumOf(iter.binding);
    if (binding.splits.size() != 1 || !(binding == IndexSum::Of(binding.splits[0].source))) return false;
    const Id loop = binding.splits[0].source.id;
    if (!iter.extent.constant() || !(p.loop(loop).extent == iter.extent)) return false;
    loops.insert(loop);
  }
  size_t around = 0;
  for (Id node = block; p.nodes[node].parent != kRoot; ++around) {
    if (p.nodes[node].prev != kNone || p.nodes[node].next != kNone) return false;
    node = p.nodes[node].parent;
  }
  return around == loops.size() && loops.size() == static_cast<size_t>(p.block(block).iters.count);
}

bool Uses(const Program& p, Id mark, int iter) {
  const auto splits = p.Splits(p.marks[mark].splits);
  return std::any_of(splits.begin(), splits.end(),
                     [&](const IndexSplit& s) { return s.source == Source::Iter(iter); });
}

// Returns the iter that the index consists of, ignoring iters of extent 1; nullopt if the index is anything else.
std::optional<int> PlainIter(const Program& p, absl::Span<const Iter> iters, Id mark) {
  IndexSum sum = p.SumOf(mark);
  const auto is_unit = [&](const IndexSplit& s) { return iters[s.source.id].extent.Known() == 1; };
  if (sum.splits.size() > 1)
    sum.splits.erase(std::remove_if(sum.splits.begin(), sum.splits.end(), is_unit), sum.splits.end());
  if (sum.splits.size() != 1 || !(sum == IndexSum::Of(sum.splits[0].source))) return std::nullopt;
  return sum.splits[0].source.id;
}

// Finds the dimensions that can be merged with the next one, and the pairs of iters that index two such dimensions.
class Finder {
 public:
  Finder(const Program& program, const std::set<Id>& copies)
      : p_(program), blocks_(Blocks(program)), copies_(copies) {
    for (const Id block : blocks_) {
      accesses_[block] = AccessesOf(block);
      others_[block] = OtherMarks(block);
    }
  }

  // Starts with all pairs of neighboring dimensions and removes those that cannot merge, until nothing
  // changes.
  void Run() {
    for (size_t b = 0; b < p_.buffers.size(); ++b) {
      for (int d = 0; d + 1 < p_.buffers[b].shape.count; ++d) dims.insert({static_cast<Id>(b), d});
    }
    for (const Id block : blocks_) {
      for (const Id gather : Gathers(p_, block))
        std::erase_if(dims, [&](const Pair& pair) { return pair.first == BufferRead(p_.exprs[gather]); });
    }
    for (size_t before = dims.size() + 1; before != dims.size();) {
      before = dims.size();
      FindIters();
      std::erase_if(dims, [&](const Pair& pair) { return !Walked(pair); });
    }
  }

  std::set<Pair> dims;        // this dimension and the next can merge
  std::map<Pair, int> iters;  // the first iter can merge with the second

 private:
  std::vector<Access> AccessesOf(Id block) const {
    const auto dests = p_.Accesses(p_.block(block).dests);
    std::vector<Access> accesses(dests.begin(), dests.end());
    for (const Id load : Loads(p_, block)) {
      const Expr& e = p_.exprs[load];
      accesses.push_back({e.AsLoad().buffer, e.AsLoad().index});
    }
    return accesses;
  }

  // Returns the marks of a block that are not indices of accesses.
  std::vector<Id> OtherMarks(Id block) const {
    const auto domain = p_.List(p_.block(block).domain);
    std::vector<Id> marks(domain.begin(), domain.end());
    for (const Id id : BodyExprs(p_, block)) {
      const Expr& e = p_.exprs[id];
      if (e.op == Op::kIndex) marks.push_back(e.AsIndex());
      if (e.op == Op::kWithin) {
        const auto within = p_.List(e.AsWithin().marks);
        marks.insert(marks.end(), within.begin(), within.end());
      }
    }
    return marks;
  }

  // Returns the dimension d if `first` indexes d and `second` indexes d + 1 of the access; -1 if neither is used;
  // nullopt if the two are used in any other way.
  std::optional<int> Together(Id block, const Access& access, int first, int second) const {
    const auto own = p_.Iters(p_.block(block).iters);
    const auto index = p_.List(access.index);
    const auto shape = p_.Dims(p_.buffers[access.buffer].shape);
    std::vector<int> of_first, of_second;
    for (int d = 0; d < access.index.count; ++d) {
      if (Uses(p_, index[d], first)) of_first.push_back(d);
      if (Uses(p_, index[d], second)) of_second.push_back(d);
    }
    if (of_first.empty() && of_second.empty()) return -1;
    if (of_first.size() != 1 || of_second.size() != 1 || of_second[0] != of_first[0] + 1) return std::nullopt;
    const int d = of_first[0];
    if (PlainIter(p_, own, index[d]) != first || PlainIter(p_, own, index[d + 1]) != second ||
        !(shape[d] == own[first].extent) || !(shape[d + 1] == own[second].extent))
      return std::nullopt;
    return d;
  }

  bool IsTogether(Id block, int first, int second) const {
    const auto own = p_.Iters(p_.block(block).iters);
    if (own[first].kind != own[second].kind) return false;
    for (const Id mark : others_.at(block)) {
      if (Uses(p_, mark, first) || Uses(p_, mark, second)) return false;
    }
    bool any = false;
    for (const Access& access : accesses_.at(block)) {
      const auto d = Together(block, access, first, second);
      if (!d.has_value() || (*d >= 0 && !dims.contains({access.buffer, *d}))) return false;
      any = any || *d >= 0;
    }
    return any;
  }

  void FindIters() {
    iters.clear();
    for (const Id block : blocks_) {
      if (copies_.contains(block)) continue;
      const int count = p_.block(block).iters.count;
      for (int first = 0; first < count; ++first) {
        for (int second = 0; second < count; ++second) {
          if (first != second && IsTogether(block, first, second))
            iters.insert_or_assign({block, first}, second);
        }
      }
    }
  }

  // True if every access, except the results of copies, indexes the two dimensions by two iters, in this order, that
  // can merge. False if there is no such access.
  bool Walked(const Pair& pair) const {
    bool any = false;
    for (const Id block : blocks_) {
      const auto own = p_.Iters(p_.block(block).iters);
      for (const Access& access : accesses_.at(block)) {
        if (access.buffer != pair.first) continue;
        if (copies_.contains(block) && &access == &accesses_.at(block)[0]) continue;  // the result of a copy
        const auto index = p_.List(access.index);
        const auto first = PlainIter(p_, own, index[pair.second]);
        const auto second = PlainIter(p_, own, index[pair.second + 1]);
        if (!first.has_value() || !second.has_value()) return false;
        const auto found = iters.find({block, *first});
        if (found == iters.end() || found->second != *second) return false;
        any = true;
      }
    }
    return any;
  }

  const Program& p_;
  const std::vector<Id> blocks_;
  const std::set<Id>& copies_;
  std::map<Id, std::vector<Access>> accesses_;  // by block
  std::map<Id, std::vector<Id>> others_;
};

// Copies a program's blocks to a new program, with the pairs of iters and dimensions merged.
class Rewriter {
 public:
  Rewriter(const Program& from, const std::set<Pair>& dims, const std::map<Pair, int>& pairs)
      : from_(from),
        dims_(dims),
        pairs_(pairs),
        exprs_(from_, to_,
               {.mark = [this](Id mark) { return Mark(mark); },
                .index = [this](Id buffer, Range index) { return Index({buffer, index}); },
                .written_out = kWrittenOut}) {
    to_.name = from.name;
    to_.names = from.names;
    to_.parameters = from.parameters;
    to_.constants = from.constants;
    to_.buffers = from.buffers;
    for (size_t b = 0; b < to_.buffers.size(); ++b) {
      std::vector<Extent> shape;
      const auto old = from_.Dims(from_.buffers[b].shape);
      for (int d = 0; d < static_cast<int>(old.size()); ++d) {
        if (IsTail(static_cast<Id>(b), d)) {
          shape.back() = Extent(shape.back().Known() * old[d].Known());
        } else {
          shape.push_back(old[d]);
        }
      }
      to_.buffers[b].shape = to_.AddDims(shape);
    }
    for (Monoid monoid : from.monoids) {
      monoid.identity = exprs_.Copy(monoid.identity);
      monoid.combine = exprs_.Copy(monoid.combine);
      to_.monoids.push_back(monoid);
    }
  }

  Rewriter(const Rewriter&) = delete;

  void Block(Id node) {
    BlockNode block = from_.block(node);
    block_ = node;
    Number();
    exprs_.Forget();  // indices of this block's iters
    Id parent = kRoot;
    std::vector<Iter> iters(
        std::count_if(position_.begin(), position_.end(), [](int at) { return at >= 0; }));
    for (const Id loop : LoopsAround(from_, node)) {
      const int i = IterOf(loop);
      if (position_[i] < 0) continue;
      Iter& iter = iters[position_[i]] = Joined(i);
      const Id made = to_.AddLoop(std::string(to_.Text(iter.name)), iter.extent);
      to_.Append(parent, made);
      iter.binding = to_.AddMark(IndexSum::Of(Source::Loop(made)), iter.extent);
      parent = made;
    }
    block.iters = {static_cast<int32_t>(to_.iters.size()), static_cast<int32_t>(iters.size())};
    to_.iters.insert(to_.iters.end(), iters.begin(), iters.end());
    block.domain = Marks(block.domain);
    std::vector<Access> dests;
    for (const Access& dest : from_.Accesses(block.dests)) dests.push_back({dest.buffer, Index(dest)});
    block.dests.begin = static_cast<int32_t>(to_.accesses.size());
    to_.accesses.insert(to_.accesses.end(), dests.begin(), dests.end());
    block.values = exprs_.Copy(block.values);
    block.initial = exprs_.Copy(block.initial);
    block.annotations = to_.AddList(from_.List(block.annotations));
    const Id made = to_.AddBlock(block);
    to_.block(made).provenance = {Provenance::Kind::kCompute, made, {}};
    to_.Append(parent, made);
  }

  Program Done() { return std::move(to_); }

 private:
  bool IsTail(Id buffer, int d) const { return dims_.contains({buffer, d - 1}); }
  absl::Span<const Iter> Iters() const { return from_.Iters(from_.block(block_).iters); }

  // Sets position_: for each iter its new position, or -1 if it is the second iter of a merged pair.
  void Number() {
    std::set<int> tails;
    for (const auto& [pair, second] : pairs_) {
      if (pair.first == block_) tails.insert(second);
    }
    position_.clear();
    for (int i = 0, next = 0; i < from_.block(block_).iters.count; ++i)
      position_.push_back(tails.contains(i) ? -1 : next++);
  }

  int IterOf(Id loop) const {
    int i = 0;
    while (!(from_.SumOf(Iters()[i].binding) == IndexSum::Of(Source::Loop(loop)))) ++i;
    return i;
  }

  Iter Joined(int i) {
    Iter iter = Iters()[i];
    std::string name(from_.Text(iter.name));
    for (auto at = pairs_.find({block_, i}); at != pairs_.end(); at = pairs_.find({block_, at->second})) {
      const Iter& other = Iters()[at->second];
      iter.extent = Extent(iter.extent.Known() * other.extent.Known());
      absl::StrAppend(&name, from_.Text(other.name));
    }
    iter.name = to_.Intern(name);
    return iter;
  }

  Id Mark(Id mark) {
    IndexSum sum = from_.SumOf(mark);
    for (IndexSplit& split : sum.splits) split.source = Source::Iter(position_[split.source.id]);
    return to_.AddMark(sum, from_.marks[mark].extent);
  }
  Range Marks(Range marks) {
    std::vector<int32_t> copies;
    for (const Id mark : from_.List(marks)) copies.push_back(Mark(mark));
    return to_.AddList(copies);
  }

  // Returns the index of an access after merging. A merged dimension is indexed by its merged iter. A copy that keeps
  // separate iters indexes it by the element's linear index.
  Range Index(const Access& access) {
    std::vector<int32_t> marks;
    for (int d = 0; d < access.index.count; ++d) {
      if (IsTail(access.buffer, d)) continue;
      const Id mark = from_.List(access.index)[d];
      if (!dims_.contains({access.buffer, d})) {
        marks.push_back(Mark(mark));
        continue;
      }
      const Extent extent = to_.Dims(to_.buffers[access.buffer].shape)[marks.size()];
      const int first = *PlainIter(from_, Iters(), mark);
      IndexSum element = IndexSum::Of(Source::Iter(position_[first]));
      for (int tail = d + 1; !pairs_.contains({block_, first}) && IsTail(access.buffer, tail); ++tail) {
        const int next = *PlainIter(from_, Iters(), from_.List(access.index)[tail]);
        element = element * Iters()[next].extent.Known() + IndexSum::Of(Source::Iter(position_[next]));
      }
      marks.push_back(to_.AddMark(element, extent));
    }
    return to_.AddList(marks);
  }

  const Program& from_;
  Program to_;
  const std::set<Pair>& dims_;
  const std::map<Pair, int>& pairs_;
  Id block_ = kNone;
  std::vector<int> position_;
  ExprCopier exprs_;
};

}  // namespace

Program MergeDims(const Program& program, const Policies& policies, const CostTable& costs) {
  const std::vector<Id> blocks = Blocks(program);
  const auto is_plain = [](const Buffer& b) { return b.layout.axes.count == 0 && b.layout.padding == kNone; };
  const auto has_nest = [&](Id block) { return HasOwnNest(program, block); };
  if (!std::all_of(blocks.begin(), blocks.end(), has_nest) ||
      !std::all_of(program.buffers.begin(), program.buffers.end(), is_plain))
    return program;
  Program direct = program;
  const bool shorter = policies.Has(Policy::kForwardCopies) && ForwardCopies(direct);
  std::set<Id> copies;
  for (const Id block : policies.Has(Policy::kDensifyStridedReads) ? Blocks(direct) : std::vector<Id>()) {
    for (const Id copy : DensifyStridedReads(direct, block, costs)) copies.insert(copy);
  }
  Finder found(direct, copies);
  if (policies.Has(Policy::kMergeDims)) found.Run();
  if (!shorter && copies.empty() && found.dims.empty()) return program;
  Rewriter made(direct, found.dims, found.iters);
  for (const Id block : Blocks(direct)) made.Block(block);
  return made.Done();
}

}  // namespace kiln
