#include "lang/patterns/match.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "lang/analysis/bindings.h"
#include "lang/analysis/dataflow.h"
#include "lang/analysis/placement.h"
#include "lang/patterns/match_body.h"

namespace kiln {
namespace {

absl::Status No(const std::string& why) { return absl::FailedPreconditionError(why); }

// Returns the loops below a tile (at least one), outermost first, and then the only block inside. kFailedPrecondition
// if the tile contains anything else.
absl::StatusOr<std::vector<Id>> ChainWithin(const Program& p, Id tile) {
  std::vector<Id> chain;
  for (Id at = tile;; at = p.nodes[at].first) {
    if (at != tile) chain.push_back(at);
    if (at != tile && p.IsBlock(at)) break;
    if (p.nodes[at].first == kNone || p.nodes[at].first != p.nodes[at].last)
      return No(absl::StrCat(Describe(p, tile), " is not loops around one block"));
  }
  if (chain.size() < 2 || p.nodes[chain.back()].first != kNone)
    return No(absl::StrCat(Describe(p, tile), " is not loops around one block"));
  return chain;
}

absl::Status CheckGuards(const Program& p, Id tile, Id block) {
  Resolver resolver(p, tile);
  for (const Iter& iter : p.Iters(p.block(block).iters)) resolver.ResolveChecked(iter.binding);
  if ((resolver.guards().empty() && p.block(block).domain.count == 0)) return absl::OkStatus();
  return No(absl::StrCat("there is a guard inside: not all instances of ", Describe(p, block), " exist"));
}

// OK if the tile's loops run each of its instances exactly once.
absl::Status CheckInstances(const Program& p, const std::vector<Id>& loops, const Tile& tile) {
  IndexMap map;
  for (const Id loop : loops) {
    if (!p.loop(loop).extent.constant())
      return No(absl::StrCat("the extent of ", Describe(p, loop), " is not constant"));
    map.domain.push_back(p.loop(loop).extent.Known());
  }
  int64_t iterations = 1, instances = 1;
  for (const int64_t extent : map.domain) iterations *= extent;
  for (const TilePart& part : tile.parts) {
    instances *= part.tile;
    IndexSum sum = part.inner;
    for (IndexSplit& split : sum.splits) {
      const auto at = std::find(loops.begin(), loops.end(), split.source.id);
      if (split.source.kind != Source::Kind::kLoop || at == loops.end())
        return No("an iter within the tile cannot be expressed");
      split.source = Source::Iter(static_cast<int32_t>(at - loops.begin()));
    }
    if (part.tile > 1) map.results.push_back(std::move(sum));
  }
  if (instances == iterations && IsBijective(map)) return absl::OkStatus();
  return No(absl::StrCat("its loops have ", iterations, " iterations for ", instances, " instances"));
}

using Sizes = std::vector<std::pair<std::string, int64_t>>;
std::string TextOf(const Sizes& sizes) {
  return sizes.empty() ? "1" : absl::StrJoin(sizes, ", ", [](std::string* s, const auto& size) {
    absl::StrAppend(s, size.first, " ", size.second);
  });
}

class Matcher {
 public:
  Matcher(const Program& program, Id tile, const Intrinsic& intrinsic)
      : p_(program), tile_(tile), intrinsic_(intrinsic), d_(DescriptionOf(intrinsic)) {}

  // Matches the tile with the description. exact: the tile's loops must also equal those of the description.
  // kFailedPrecondition with the difference if they do not match.
  absl::StatusOr<IntrinsicMatch> Match(bool exact) {
    const absl::StatusOr<std::vector<Id>> chain = ChainWithin(p_, tile_);
    if (!chain.ok()) return chain.status();
    loops_.assign(chain->begin(), chain->end() - 1);
    match_.block = chain->back();
    if (exact) {
      if (const absl::Status status = CheckLoops(); !status.ok()) return status;
    }
    absl::StatusOr<Tile> tile = TileBelow(p_, match_.block, loops_[0]);
    if (!tile.ok()) return tile.status();
    match_.tile = *std::move(tile);
    absl::Status status = CheckGuards(p_, tile_, match_.block);
    if (status.ok()) status = CheckInstances(p_, loops_, match_.tile);
    if (status.ok()) status = CheckSizes();
    if (!status.ok()) return status;
    match_.iter_of.assign(d_.block(BlockOf(d_)).iters.count, -1);
    used_.assign(match_.tile.parts.size(), false);
    exact_ = exact;
    if (Assign(0)) return match_;
    if (!why_.empty()) return No(why_);
    return No(absl::StrCat("its iters are of other kinds than those of ", intrinsic_.name));
  }

 private:
  absl::Status CheckLoops() const {
    const std::vector<Id> wanted = LoopsOf(d_);
    bool same = wanted.size() == loops_.size();
    for (size_t i = 0; same && i < wanted.size(); ++i) {
      const LoopNode &a = p_.loop(loops_[i]), &b = d_.loop(wanted[i]);
      same = a.extent == b.extent && a.kind == b.kind;
    }
    return same ? absl::OkStatus() : No("its loops are not those of the description");
  }

  absl::Status CheckSizes() const {
    const auto iters = p_.Iters(p_.block(match_.block).iters);
    const auto wanted = d_.Iters(d_.block(BlockOf(d_)).iters);
    Sizes found, sizes;
    for (size_t i = 0; i < iters.size(); ++i) {
      if (match_.tile.parts[i].tile > 1)
        found.emplace_back(p_.Text(iters[i].name), match_.tile.parts[i].tile);
    }
    for (const Iter& iter : wanted) {
      if (iter.extent.Known() > 1) sizes.emplace_back(d_.Text(iter.name), iter.extent.Known());
    }
    const auto numbers = [](const Sizes& from) {
      std::vector<int64_t> list;
      for (const auto& size : from) list.push_back(size.second);
      std::sort(list.begin(), list.end());
      return list;
    };
    if (numbers(found) == numbers(sizes)) return absl::OkStatus();
    return No(absl::StrCat("found a tile of ", TextOf(found), "; wanted ", TextOf(sizes)));
  }

  // Tries all assignments of block iters to the description's iters from `i` on, and compares the bodies for each.
  // Returns true at the first match, and keeps it in match_. Otherwise why_ has the reason.
  bool Assign(size_t i) {
    const auto wanted = d_.Iters(d_.block(BlockOf(d_)).iters);
    if (i == wanted.size()) {
      BodyMatcher body(p_, match_.block, match_.tile, d_, BlockOf(d_), match_.iter_of);
      const absl::Status status = body.Match();
      if (status.ok()) match_.operands = body.operands();
      if (body.progress() > progress_) {
        why_ = std::string(status.message());
        progress_ = body.progress();
      }
      return status.ok();
    }
    if (wanted[i].extent.Known() == 1) return Assign(i + 1);
    const auto iters = p_.Iters(p_.block(match_.block).iters);
    for (size_t v = 0; v < iters.size(); ++v) {
      const TilePart& part = match_.tile.parts[v];
      if (used_[v] || part.tile != wanted[i].extent.Known()) continue;
      if (iters[v].kind != wanted[i].kind) continue;
      if (exact_ && !(part.inner == IndexSum::Of(Source::Loop(loops_[LoopOf(static_cast<int>(i))]))))
        continue;
      used_[v] = true;
      match_.iter_of[i] = static_cast<int>(v);
      if (Assign(i + 1)) return true;
      used_[v] = false;
      match_.iter_of[i] = -1;
    }
    return false;
  }

  // Returns the position of the loop to which an iter of the description is bound.
  int LoopOf(int iter) const {
    const std::vector<Id> loops = LoopsOf(d_);
    const Id binding = d_.Iters(d_.block(BlockOf(d_)).iters)[iter].binding;
    const Id loop = d_.SumOf(binding).splits[0].source.id;
    return static_cast<int>(std::find(loops.begin(), loops.end(), loop) - loops.begin());
  }

  const Program& p_;
  Id tile_;
  const Intrinsic& intrinsic_;
  const Program& d_;
  bool exact_ = false;
  std::vector<Id> loops_;
  std::vector<bool> used_;
  IntrinsicMatch match_;
  std::string why_;  // why the assignment that got furthest does not match
  int progress_ = 0;
};

absl::Status CheckNoCall(const Program& p, Id tile, const Intrinsic& intrinsic, absl::Status status) {
  if (status.ok()) return status;
  return absl::Status(status.code(), absl::StrCat(Describe(p, tile), " does not match ", intrinsic.name, ": ",
                                                  status.message()));
}

bool Same(Range a, Range b) { return a.begin == b.begin && a.count == b.count; }

bool SameIters(const Program& a, const Program& b, Range iters) {
  for (int32_t i = iters.begin; i < iters.begin + iters.count; ++i) {
    if (a.iters[i].binding != b.iters[i].binding || !(a.iters[i].extent == b.iters[i].extent)) return false;
  }
  return true;
}

bool SameBuffer(const Program& a, const Program& b, Id buffer) {
  const Buffer &x = a.buffers[buffer], &y = b.buffers[buffer];
  return x.scope == y.scope && x.dtype == y.dtype && x.role == y.role && Same(x.shape, y.shape) &&
         Same(x.layout.axes, y.layout.axes) && Same(x.layout.kinds, y.layout.kinds) &&
         x.layout.padding == y.layout.padding && x.layout.swizzle.from == y.layout.swizzle.from &&
         x.layout.swizzle.to == y.layout.swizzle.to && x.layout.swizzle.bits == y.layout.swizzle.bits;
}

bool SameBlock(const Program& a, const Program& b, Id block) {
  const BlockNode &x = a.block(block), &y = b.block(block);
  if (x.intrinsic != y.intrinsic || x.monoid != y.monoid || !Same(x.iters, y.iters) ||
      !Same(x.domain, y.domain) || !Same(x.values, y.values) || !Same(x.dests, y.dests) ||
      !Same(x.initial, y.initial) || x.accumulates != y.accumulates || !SameIters(a, b, x.iters))
    return false;
  for (const auto& buffers : {ReadBuffers(b, block), WrittenBuffers(b, block)}) {
    for (const Id buffer : buffers)
      if (!SameBuffer(a, b, buffer)) return false;
  }
  return true;
}

// True if a node and all below it are the same in `before`, an earlier state of the program. Marks and expressions
// never change, so equal ids mean equal ones. Ignores names, annotations and provenances.
bool IsUnchanged(const Program& before, const Program& program, Id node) {
  if (node >= static_cast<Id>(before.nodes.size())) return false;
  const Node &a = before.nodes[node], &b = program.nodes[node];
  if (a.kind != b.kind || a.first != b.first) return false;
  if (program.IsBlock(node) && !SameBlock(before, program, node)) return false;
  if (program.IsLoop(node)) {
    const LoopNode &x = before.loop(node), &y = program.loop(node);
    if (!(x.extent == y.extent) || x.kind != y.kind) return false;
  }
  for (Id child = b.first; child != kNone; child = program.nodes[child].next) {
    if (before.nodes.size() <= static_cast<size_t>(child) ||
        before.nodes[child].next != program.nodes[child].next || !IsUnchanged(before, program, child))
      return false;
  }
  return true;
}

}  // namespace

std::vector<Id> LoopsOf(const Program& description) {
  std::vector<Id> loops;
  Id at = description.nodes[kRoot].first;
  for (; description.IsLoop(at); at = description.nodes[at].first) loops.push_back(at);
  return loops;
}

Id BlockOf(const Program& description) { return Blocks(description)[0]; }

absl::StatusOr<IntrinsicMatch> MatchIntrinsic(const Program& program, Id tile, const Intrinsic& intrinsic) {
  absl::StatusOr<IntrinsicMatch> match = Matcher(program, tile, intrinsic).Match(false);
  if (!match.ok()) return CheckNoCall(program, tile, intrinsic, match.status());
  return match;
}

absl::Status CheckCalls(const Program& program, const Program* before) {
  for (const Id block : Blocks(program)) {
    const Id name = program.block(block).intrinsic;
    if (name == kNone || (before != nullptr && IsUnchanged(*before, program, block))) continue;
    const Intrinsic* const intrinsic = FindIntrinsic(program.Text(name));
    if (intrinsic == nullptr) {
      return No(absl::StrCat(Describe(program, block), " is a call of ", program.Text(name),
                             ", which is not declared"));
    }
    const absl::Status status =
        CheckNoCall(program, block, *intrinsic, Matcher(program, block, *intrinsic).Match(true).status());
    if (!status.ok()) return status;
  }
  return absl::OkStatus();
}

bool HasCalls(const Program& program) {
  return std::any_of(program.blocks.begin(), program.blocks.end(),
                     [](const BlockNode& b) { return b.intrinsic != kNone; });
}

Id CallAround(const Program& program, Id node) {
  for (Id at = program.nodes[node].parent; at != kNone; at = program.nodes[at].parent) {
    if (program.IsBlock(at) && program.block(at).intrinsic != kNone) return at;
  }
  return kNone;
}

}  // namespace kiln
